import { describe, expect, it } from 'vitest'
import { cheapHash } from '../../test/http/cheap-hash.ts'
import { type AuthenticationRequest, isRefusal } from '../authenticator.ts'
import { createVirtualClock } from '../testing/virtual-clock.ts'
import { type BasicUser, createBasicAuthenticator } from './basic.ts'
import { createOpenAuthenticator } from './open.ts'

describe('createBasicAuthenticator', () => {
  const authenticator = createBasicAuthenticator([
    user({ username: 'cf', passwordHash: cheapHash('new'), previousPasswordHash: cheapHash('old'), platform: 'cf-1' }),
    user({ username: 'plain', password: 'p:ä:✓', roles: ['viewer'] }),
    user({ username: 'odd', password: '\ufffd' }),
  ])
  const login = (username: string, password: string) => authenticator.authenticate(asked(basic(username, password)))

  it('recognises each user with platform and roles', async () => {
    expect(await login('cf', 'new')).toEqual({ name: 'cf', platform: 'cf-1', roles: ['platform'] })
    expect(await login('plain', 'p:ä:✓')).toEqual({ name: 'plain', platform: 'default', roles: ['viewer'] })
  })

  it('takes both passwords during a rotation', async () => {
    expect(await login('cf', 'old')).toMatchObject({ name: 'cf' })
    expect(await login('cf', 'new')).toMatchObject({ name: 'cf' })
    expect(await login('cf', 'older')).toEqual({ refused: 'wrong username or password', principal: 'cf' })
  })

  it('answers the same from memory', async () => {
    const first = await login('cf', 'new')
    expect(await login('cf', 'new')).toBe(first)
    const spelling = `BASIC   ${Buffer.from('cf:new').toString('base64').replaceAll('=', '')}`
    // At once, without a promise: nothing was computed.
    expect(authenticator.authenticate(asked(spelling))).toBe(first)
  })

  it('lets a connection go on with the header that was right on it, and with no other', async () => {
    const on = (connection: object, header: string) => ({ ...asked(header), connection })
    const [mine, other] = [{}, {}]
    await login('cf', 'new')
    const first = await authenticator.authenticate(on(mine, basic('cf', 'new')))
    expect(authenticator.authenticate(on(mine, basic('cf', 'new')))).toBe(first)
    expect(await authenticator.authenticate(on(mine, basic('plain', 'p:ä:✓')))).toMatchObject({ name: 'plain' })
    for (const connection of [mine, other]) {
      const wrong = await authenticator.authenticate(on(connection, basic('cf', 'wrong')))
      expect(wrong).toEqual({ refused: 'wrong username or password', principal: 'cf' })
      expect(authenticator.authenticate({ ...asked(''), connection, headers: {} })).toBeUndefined()
    }
  })

  it('knows a user and a password in both of the forms that Unicode has for them', async () => {
    const own = createBasicAuthenticator([user({ username: 'J\u00f6rg', password: 'gr\u00fcn' })])
    expect(await own.authenticate(asked(basic('Jo\u0308rg', 'gru\u0308n')))).toMatchObject({ name: 'J\u00f6rg' })
  })

  it('takes the scheme in any case and unpadded base64', async () => {
    const encoded = Buffer.from('cf:new').toString('base64').replaceAll('=', '')
    expect(await authenticator.authenticate(asked(`bAsIc ${encoded}`))).toMatchObject({ name: 'cf' })
  })

  it.each([
    ['unknown user', basic('nobody', 'new')],
    ['another user’s password', basic('cf', 'p:ä:✓')],
    ['empty password', basic('cf', '')],
    ['no colon', `Basic ${Buffer.from('cf').toString('base64')}`],
    ['no value', 'Basic '],
    ['nothing but the scheme', 'Basic'],
    ['two headers joined', `${basic('cf', 'new')}, ${basic('plain', 'p:ä:✓')}`],
    ['not base64', 'Basic ***'],
    ['a NUL behind the password', basic('cf', 'new\0')],
    ['a NUL behind the password in plain text', basic('plain', 'p:ä:✓\0')],
    ['a NUL behind the user', basic('cf\0', 'new')],
    ['a NUL before the user', basic('\0cf', 'new')],
    ['a line end behind the password', basic('cf', 'new\n')],
    ['a delete character', basic('cf', 'new\x7f')],
    ['not UTF-8', `Basic ${Buffer.from('odd:\xff', 'latin1').toString('base64')}`],
    ['a huge header', `Basic ${'A'.repeat(100_000)}`],
  ])('refuses: %s', async (_, authorization) => {
    expect(await authenticator.authenticate(asked(authorization))).toMatchObject({ refused: expect.any(String) })
  })

  it('leaves other schemes to others, and has the challenge ready', async () => {
    for (const authorization of [undefined, '', 'Bearer abc', 'Basically'])
      expect(await authenticator.authenticate(asked(authorization))).toBeUndefined()
    expect(authenticator.challenge).toBe('Basic realm="purser", charset="UTF-8"')
  })

  it('never lets a user in who has a hash only by its text', async () => {
    const hash = cheapHash('secret')
    const hashed = createBasicAuthenticator([user({ username: 'a', passwordHash: hash })])
    expect(await hashed.authenticate(asked(basic('a', hash)))).toMatchObject({ refused: 'wrong username or password' })
  })

  it('counts equal headers at the same time as one attempt', async () => {
    const fresh = createBasicAuthenticator([user({ username: 'cf', passwordHash: cheapHash('new') })])
    const answers = await Promise.all(Array.from({ length: 500 }, () => fresh.authenticate(asked(basic('cf', 'new')))))
    expect(new Set(answers)).toEqual(new Set([{ name: 'cf', platform: 'default', roles: ['platform'] }]))
  })

  it.each([
    [undefined, /needs a list with at least one user/],
    [[], /needs a list with at least one user/],
    [[{ user: 'cf', pass: 'canary' }], /user 1 of the list is not complete: write \[\{ username/],
    [[user({ username: 'a', password: 'x' }), user({ username: 'b' })], /user 2 of the list/],
    [[null], /user 1/],
    [[user({ username: 'a:b', password: 'x' })], /user 1 of the list could never log in/],
    [[user({ username: 'a', password: 'canary\n' })], /user 1 of the list could never log in/],
  ])('refuses users that it cannot use: %j', (users, message) => {
    expect(() => createBasicAuthenticator(users as never)).toThrow(message)
  })

  it('refuses a malformed hash when it is made', () => {
    expect(() => createBasicAuthenticator([user({ username: 'a', passwordHash: 'x' })])).toThrow(/scrypt\$/)
  })
})

describe('a flood of wrong passwords', () => {
  const users = [
    user({ username: 'seen', passwordHash: cheapHash('right') }),
    user({ username: 'new', passwordHash: cheapHash('right') }),
    user({ username: 'plain', password: 'right' }),
  ]

  it('is told when to try again, while those that were right before go on', async () => {
    const { from, flood } = start(users)
    const known = await from('10.0.0.1', 'seen', 'right')
    const answers = await flood(500, number => from('10.0.0.1', `nobody ${number}`, 'wrong'))
    expect(answers).toEqual({ 'wrong username or password': 32, 'too many attempts to log in': 468 })
    expect(await from('10.0.0.1', 'nobody', 'wrong')).toMatchObject({ retryAfter: 1 })
    expect(await from('10.0.0.1', 'seen', 'right')).toBe(known)
    expect(await from('10.0.0.2', 'seen', 'right')).toBe(known)
    expect(await from('10.0.0.1', 'plain', 'right')).toMatchObject({ name: 'plain' })
    // Not seen before: only from elsewhere, until the flood has ended.
    expect(await from('10.0.0.1', 'new', 'right')).toMatchObject({ retryAfter: 1 })
    expect(await from('10.0.0.2', 'new', 'right')).toMatchObject({ name: 'new' })
  })

  it('ends by itself: one more attempt each second', async () => {
    const { from, flood, clock } = start(users)
    await flood(100, number => from('10.0.0.1', 'new', `wrong ${number}`))
    await clock.advance(1_000)
    expect(await from('10.0.0.1', 'new', 'right')).toMatchObject({ name: 'new' })
    // A right one was no attempt.
    expect(await from('10.0.0.1', 'new', 'wrong')).toMatchObject({ refused: 'wrong username or password' })
    expect(await from('10.0.0.1', 'new', 'wrong')).toMatchObject({ retryAfter: 1 })
  })

  it.each(['new', 'plain', 'nobody'])('is limited for the user %s from many addresses', async name => {
    const { from, flood } = start(users)
    const answers = await flood(200, number => from(`10.0.1.${number}`, name, `wrong ${number}`))
    expect(answers).toEqual({ 'wrong username or password': 32, 'too many attempts to log in': 168 })
    expect(await from('10.0.2.1', 'seen', 'right')).toMatchObject({ name: 'seen' })
  })

  it('has one limit for a network of IPv6, and for both forms of an IPv4 address', async () => {
    const { from, flood } = start(users)
    await flood(32, number => from(`2001:db8:0:1::${number.toString(16)}`, `nobody ${number}`, 'wrong'))
    expect(await from('2001:db8::1:a:b:c:d', 'new', 'right')).toMatchObject({ retryAfter: 1 })
    expect(await from('2001:db8:0:2::1', 'new', 'right')).toMatchObject({ name: 'new' })
    await flood(32, number => from('10.0.0.1', `someone ${number}`, 'wrong'))
    expect(await from('::ffff:10.0.0.1', 'another', 'wrong')).toMatchObject({ retryAfter: 1 })
  })

  it('computes few hashes at a time, lets few wait, and refuses the rest', async () => {
    const { from, flood } = start(users)
    const answers = await flood(1000, number =>
      from(`10.1.${number >> 8}.${number & 255}`, `nobody ${number}`, 'wrong'),
    )
    expect(answers).toEqual({ 'wrong username or password': 66, 'too many attempts to log in': 934 })
    // Refused before anything was computed: that counts for nobody.
    const again = await flood(32, number => from('10.1.3.231', `nobody ${number}`, 'wrong'))
    expect(again).toEqual({ 'wrong username or password': 32 })
  })

  it('is limited as well where the host does not tell the address', async () => {
    const { from, flood } = start(users)
    expect(await flood(33, () => from(undefined, 'new', `wrong ${Math.random()}`))).toMatchObject({
      'too many attempts to log in': 1,
    })
    expect(await from(undefined, 'seen', 'right')).toMatchObject({ name: 'seen' })
  })

  function start(given: readonly BasicUser[]) {
    const clock = createVirtualClock()
    const authenticator = createBasicAuthenticator(given, clock)
    const from = (address: string | undefined, username: string, password: string) =>
      authenticator.authenticate({ ...asked(basic(username, password)), address })
    const flood = async (count: number, attempt: (number: number) => ReturnType<typeof from>) => {
      const answers: Record<string, number> = {}
      for (const answer of await Promise.all(Array.from({ length: count }, (_, number) => attempt(number)))) {
        const said = answer !== undefined && isRefusal(answer) ? answer.refused : 'let in'
        answers[said] = (answers[said] ?? 0) + 1
      }
      return answers
    }
    return { clock, from, flood }
  }
})

describe('createOpenAuthenticator', () => {
  it('takes everybody for the platform default', async () => {
    expect(await createOpenAuthenticator().authenticate(asked())).toMatchObject({
      platform: 'default',
      name: 'anonymous',
    })
  })
})

function user(given: Partial<BasicUser> & { username: string }): BasicUser {
  return { platform: 'default', roles: ['platform'], ...given }
}

function asked(authorization?: string): AuthenticationRequest {
  return { method: 'GET', path: '/v2/catalog', headers: { authorization } }
}

function basic(username: string, password: string): string {
  return `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`
}
