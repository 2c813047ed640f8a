import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/protocol/json.ts'
import { whyNoAnsible } from '../external/ansible.ts'
import { type RedisServer, startRedis, whyNoRedis } from '../external/redis.ts'
import { useProcesses } from './process.ts'
import { bundleFolder } from './samples.ts'

const reason = (await whyNoAnsible()) ?? (await whyNoRedis())
const processes = useProcesses()

describe.skipIf(reason !== undefined)(`bundles/ansible-redis${reason ? ` (skipped: ${reason})` : ''}`, () => {
  let server: RedisServer
  beforeAll(async () => {
    server = await startRedis()
  })
  afterAll(() => server.stop())

  const open = () => {
    const secrets = { redis_host: server.host, redis_port: server.port, redis_password: server.password }
    return processes.open(bundleFolder('ansible-redis'), 'apb.yml', secrets)
  }
  const as = (credentials: JsonObject, ...args: readonly string[]) =>
    server.cli(args, { user: String(credentials.REDIS_USER), password: String(credentials.REDIS_PASSWORD) })

  it('runs as it was written for the original broker', async () => {
    const { run, succeed, state } = await open()
    const ask = { instance: 'mine', plan: 'default', parameters: { redis_description: 'äöü "quoted"' } }
    const provisioned = await run('provision', ask)
    expect(provisioned, provisioned.log).toMatchObject({ code: 0, progress: '100%: ready', outputs: { problems: [] } })
    const owner = provisioned.outputs.credentials ?? {}
    const { prefix = '' } = state('mine')
    expect(state('mine')).toEqual({ prefix, plan: 'default', description: 'äöü "quoted"' })
    expect(owner).toMatchObject({ REDIS_HOST: server.host, REDIS_PREFIX: `${prefix}:` })
    expect(await as(owner, 'set', `${prefix}:a`, '1')).toBe('OK')
    await expect(as(owner, 'set', 'elsewhere', '1')).rejects.toThrow('NOPERM')
    expect(provisioned.log).not.toContain(String(owner.REDIS_PASSWORD))

    const reader = await succeed('bind', { ...ask, binding: 'app', bindParameters: { redis_access: 'read-only' } })
    expect(await as(reader, 'get', `${prefix}:a`)).toBe('1')
    await expect(as(reader, 'set', `${prefix}:a`, '2')).rejects.toThrow('NOPERM')
    expect(await run('update', ask)).toMatchObject({ code: 8, log: expect.stringContaining('no playbook for update') })

    await succeed('unbind', { ...ask, binding: 'app' })
    await expect(as(reader, 'ping')).rejects.toThrow(/WRONGPASS|AUTH failed/)
    await succeed('deprovision', ask)
    await succeed('deprovision', ask)
    expect(await server.cli(['acl', 'users'])).toBe('default')
    expect(await server.cli(['dbsize'])).toBe('0')
  })
})
