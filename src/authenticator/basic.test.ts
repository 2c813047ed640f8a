import { randomBytes, scryptSync } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { type AuthenticationRequest, isRefusal } from '../authenticator.ts'
import { type BasicUser, createBasicAuthenticator } from './basic.ts'
import { createOpenAuthenticator } from './open.ts'

describe('createBasicAuthenticator', () => {
  const authenticator = createBasicAuthenticator([
    user({ username: 'cf', passwordHash: cheapHash('new'), previousPasswordHash: cheapHash('old'), platform: 'cf-1' }),
    user({ username: 'plain', password: 'p:ä:✓', roles: ['viewer'] }),
  ])
  const login = (username: string, password: string) => authenticator.authenticate(asked(basic(username, password)))

  it('recognises each user with platform and roles', async () => {
    expect(await login('cf', 'new')).toEqual({ name: 'cf', platform: 'cf-1', roles: ['platform'] })
    expect(await login('plain', 'p:ä:✓')).toEqual({ name: 'plain', platform: 'default', roles: ['viewer'] })
  })

  it('takes both passwords during a rotation', async () => {
    expect(await login('cf', 'old')).toMatchObject({ name: 'cf' })
    expect(await login('cf', 'new')).toMatchObject({ name: 'cf' })
    expect(await login('cf', 'older')).toEqual({ refused: 'wrong username or password' })
  })

  it('answers the same from memory', async () => {
    const first = await login('cf', 'new')
    expect(await login('cf', 'new')).toBe(first)
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
    ['a huge header', `Basic ${'A'.repeat(100_000)}`],
  ])('refuses: %s', async (_, authorization) => {
    expect(await authenticator.authenticate(asked(authorization))).toEqual({ refused: expect.any(String) })
  })

  it('leaves other schemes to others, and has the challenge ready', async () => {
    for (const authorization of [undefined, '', 'Bearer abc', 'Basically'])
      expect(await authenticator.authenticate(asked(authorization))).toBeUndefined()
    expect(authenticator.challenge).toBe('Basic realm="purser", charset="UTF-8"')
  })

  it('never lets a user in who has a hash only by its text', async () => {
    const hash = cheapHash('secret')
    const hashed = createBasicAuthenticator([user({ username: 'a', passwordHash: hash })])
    expect(await hashed.authenticate(asked(basic('a', hash)))).toEqual({ refused: 'wrong username or password' })
  })

  it('refuses what a flood leaves no room for, and goes on serving those it knows', async () => {
    const known = await login('cf', 'new')
    const flood = Array.from({ length: 500 }, (_, number) => login('cf', `wrong ${number}`))
    expect(await login('cf', 'new')).toBe(known)
    const reasons = new Set((await Promise.all(flood)).map(answer => (isRefusal(answer) ? answer.refused : answer)))
    expect([...reasons].sort()).toEqual(['too many logins at the same time', 'wrong username or password'])
    expect(await login('cf', 'old')).toMatchObject({ name: 'cf' })
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
  ])('refuses users that it cannot use: %j', (users, message) => {
    expect(() => createBasicAuthenticator(users as never)).toThrow(message)
  })

  it('refuses a malformed hash when it is made', () => {
    expect(() => createBasicAuthenticator([user({ username: 'a', passwordHash: 'x' })])).toThrow(/scrypt\$/)
  })
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

/** As `hashPassword`, at the lowest cost that is allowed. */
function cheapHash(password: string): string {
  const salt = randomBytes(16)
  const hash = scryptSync(password, salt, 32, { cost: 1024, blockSize: 8, parallelization: 1 })
  return `scrypt$1024$8$1$${salt.toString('base64url')}$${hash.toString('base64url')}`
}
