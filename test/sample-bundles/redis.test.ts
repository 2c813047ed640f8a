import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/protocol/json.ts'
import { type RedisServer, startRedis, whyNoRedis } from '../external/redis.ts'
import { useProcesses } from './process.ts'
import { bundleFolder } from './samples.ts'

const reason = await whyNoRedis()
const processes = useProcesses()

describe.skipIf(reason !== undefined)(`bundles/redis${reason === undefined ? '' : ` (skipped: ${reason})`}`, () => {
  let server: RedisServer
  beforeAll(async () => {
    server = await startRedis()
  })
  afterAll(() => server.stop())

  const open = (secrets?: JsonObject) =>
    processes.open(
      bundleFolder('redis'),
      'bundle.yml',
      secrets ?? { redis_host: server.host, redis_port: server.port, redis_password: server.password },
    )
  const as = (credentials: JsonObject, ...args: readonly string[]) =>
    server.cli(args, { user: String(credentials.user), password: String(credentials.password) })
  const users = async () => (await server.cli(['acl', 'users'])).split('\n')

  it('gives out a part of the server that no other login can reach', async () => {
    const { succeed, state } = await open()
    const [mine, other] = [
      { instance: 'mine', plan: 'shared' },
      { instance: 'other', plan: 'shared' },
    ]
    await succeed('provision', mine)
    await succeed('provision', other)
    const credentials = await succeed('bind', { ...mine, binding: 'app' })
    const theirs = await succeed('bind', { ...other, binding: 'app' })
    const { host, port, user, password, prefix } = credentials
    expect(credentials.uri).toBe(`redis://${user}:${password}@${host}:${port}/0`)
    expect(prefix).toBe(`${state('mine').prefix}:`)

    expect(await as(credentials, 'set', `${prefix}a`, '1')).toBe('OK')
    expect(await as(credentials, 'eval', `return redis.call('incr', KEYS[1])`, '1', `${prefix}a`)).toBe('2')
    await expect(as(theirs, 'get', `${prefix}a`)).rejects.toThrow('NOPERM')
    await expect(as(credentials, 'set', 'elsewhere', '1')).rejects.toThrow('NOPERM')
    await expect(as(credentials, 'publish', 'elsewhere', '1')).rejects.toThrow('NOPERM')
    for (const command of [['keys', '*'], ['scan', '0'], ['flushall'], ['acl', 'list'], ['select', '1'], ['info']])
      await expect(as(credentials, ...command), command.join(' ')).rejects.toThrow('NOPERM')
    await expect(as({ ...credentials, password: 'wrong' }, 'get', `${prefix}a`)).rejects.toThrow(
      /WRONGPASS|AUTH failed/,
    )

    const reader = await succeed('bind', { ...mine, binding: 'reader', bindParameters: { access: 'read-only' } })
    expect(await as(reader, 'get', `${prefix}a`)).toBe('2')
    await expect(as(reader, 'del', `${prefix}a`)).rejects.toThrow('NOPERM')

    await server.restart()
    expect(await as(theirs, 'ping')).toBe('PONG')
    await as(theirs, 'set', `${theirs.prefix}kept`, '1')
    await as(credentials, 'set', `${prefix} with "quotes" and\nlines`, '1')

    await succeed('unbind', { ...mine, binding: 'app' })
    await expect(as(credentials, 'ping')).rejects.toThrow(/WRONGPASS|AUTH failed/)
    await succeed('unbind', { ...mine, binding: 'reader' })
    await succeed('deprovision', mine)
    expect(await server.cli(['keys', '*'])).toBe(`${theirs.prefix}kept`)
    expect(await users()).toEqual(expect.arrayContaining(['default', String(theirs.user)]))
    await succeed('unbind', { ...other, binding: 'app' })
    await succeed('deprovision', other)
    expect(await users()).toEqual(['default'])
  })

  it('can do everything twice, clears away what was only half made, and has no update', async () => {
    const { succeed, run } = await open()
    const ask = { instance: 'twice', plan: 'shared', binding: 'app' }
    for (const action of ['provision', 'bind', 'bind', 'unbind', 'unbind'] as const) await succeed(action, ask)
    expect(await run('update', ask)).toMatchObject({ code: 8 })
    // A binding of which nobody knows any more.
    const { prefix } = await succeed('bind', { ...ask, binding: 'left over' })
    for (let key = 0; key < 2_500; key += 500)
      await server.cli(['mset', ...Array.from({ length: 500 }, (_, n) => [`${prefix}${key + n}`, 'x']).flat()])
    const { code, progress } = await run('deprovision', ask)
    expect([code, progress]).toEqual([0, 'deleting the keys'])
    await succeed('deprovision', ask)
    expect(await server.cli(['dbsize'])).toBe('0')
    expect(await users()).toEqual(['default'])
  })

  it('asks to be run again where the server is not there, and fails where it refuses', async () => {
    const ask = { instance: 'none', plan: 'shared' }
    const away = await open({ redis_host: server.host, redis_port: 1 })
    expect(await away.run('provision', ask)).toMatchObject({
      code: 75,
      outputs: { message: 'The Redis server does not answer.' },
    })
    const stranger = await open({ redis_host: server.host, redis_port: server.port, redis_password: 'guess' })
    expect(await stranger.run('deprovision', ask)).toMatchObject({
      code: 1,
      outputs: { message: 'Redis refused the login of the administrator.' },
    })
  })
})
