import { randomBytes, scryptSync } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { type BasicUser, createBasicAuthenticator } from './basic.ts'
import { createOpenAuthenticator } from './open.ts'

describe('createBasicAuthenticator', () => {
  const authenticator = createBasicAuthenticator([
    user({ username: 'cf', passwordHash: cheapHash('new'), previousPasswordHash: cheapHash('old'), platform: 'cf-1' }),
    user({ username: 'plain', password: 'p:ä:✓', roles: ['viewer'] }),
  ])
  const login = (username: string, password: string) =>
    authenticator.authenticate({ authorization: basic(username, password) })

  it('recognises each user with platform and roles', async () => {
    expect(await login('cf', 'new')).toEqual({ name: 'cf', platform: 'cf-1', roles: ['platform'] })
    expect(await login('plain', 'p:ä:✓')).toEqual({ name: 'plain', platform: 'default', roles: ['viewer'] })
  })

  it('takes both passwords during a rotation', async () => {
    expect((await login('cf', 'old'))?.name).toBe('cf')
    expect((await login('cf', 'new'))?.name).toBe('cf')
    expect(await login('cf', 'older')).toBeUndefined()
  })

  it('answers the same from memory', async () => {
    const first = await login('cf', 'new')
    expect(await login('cf', 'new')).toBe(first)
  })

  it('takes the scheme in any case and unpadded base64', async () => {
    const encoded = Buffer.from('cf:new').toString('base64').replaceAll('=', '')
    expect((await authenticator.authenticate({ authorization: `bAsIc ${encoded}` }))?.name).toBe('cf')
  })

  it.each([
    ['unknown user', basic('nobody', 'new')],
    ['another user’s password', basic('cf', 'p:ä:✓')],
    ['empty password', basic('cf', '')],
    ['no colon', `Basic ${Buffer.from('cf').toString('base64')}`],
    ['another scheme', 'Bearer abc'],
    ['no value', 'Basic '],
    ['an empty header', ''],
    ['two headers joined', `${basic('cf', 'new')}, ${basic('plain', 'p:ä:✓')}`],
    ['not base64', 'Basic ***'],
    ['a huge header', `Basic ${'A'.repeat(100_000)}`],
  ])('refuses: %s', async (_, authorization) => {
    expect(await authenticator.authenticate({ authorization })).toBeUndefined()
  })

  it('refuses a request without the header, and has the challenge ready', async () => {
    expect(await authenticator.authenticate({})).toBeUndefined()
    expect(authenticator.challenge).toBe('Basic realm="purser", charset="UTF-8"')
  })

  it('never lets a user in who has a hash only by its text', async () => {
    const hash = cheapHash('secret')
    const hashed = createBasicAuthenticator([user({ username: 'a', passwordHash: hash })])
    expect(await hashed.authenticate({ authorization: basic('a', hash) })).toBeUndefined()
  })

  it('refuses what a flood leaves no room for, and goes on serving those it knows', async () => {
    const known = await login('cf', 'new')
    const flood = Array.from({ length: 500 }, (_, number) => login('cf', `wrong ${number}`))
    expect(await login('cf', 'new')).toBe(known)
    expect((await Promise.all(flood)).every(answer => answer === undefined)).toBe(true)
    expect((await login('cf', 'old'))?.name).toBe('cf')
  })

  it('counts equal headers at the same time as one attempt', async () => {
    const fresh = createBasicAuthenticator([user({ username: 'cf', passwordHash: cheapHash('new') })])
    const answers = await Promise.all(
      Array.from({ length: 500 }, () => fresh.authenticate({ authorization: basic('cf', 'new') })),
    )
    expect(answers.every(answer => answer?.name === 'cf')).toBe(true)
  })

  it('refuses a malformed hash when it is made', () => {
    expect(() => createBasicAuthenticator([user({ username: 'a', passwordHash: 'x' })])).toThrow(/scrypt\$/)
  })
})

describe('createOpenAuthenticator', () => {
  it('takes everybody for the platform default', async () => {
    expect(await createOpenAuthenticator().authenticate({})).toMatchObject({ platform: 'default', name: 'anonymous' })
  })
})

function user(given: Partial<BasicUser> & { username: string }): BasicUser {
  return { platform: 'default', roles: ['platform'], ...given }
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
