import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { main } from '../../src/cli/main.ts'
import type { CannedAnswers } from './canned-broker.ts'
import { catalog, startCannedBroker } from './canned-broker.ts'
import { createTestIo, makeFolder, runCli } from './test-io.ts'

const instance = '/v2/service_instances/db'
const binding = `${instance}/service_bindings/app`
const ok = { 'GET /v2/catalog': { status: 200, body: catalog } }
const done = { status: 200, body: { state: 'succeeded' } }

/** A broker, and a folder in which `db` was provisioned. */
async function begin(answers: CannedAnswers) {
  const broker = await startCannedBroker({ ...ok, [`PUT ${instance}`]: { status: 201 }, ...answers })
  const options = { cwd: await makeFolder(), env: { PURSER_URL: broker.url } }
  await runCli(['provision', 'postgres', 'small', '--id', 'db'], options)
  return { broker, options, run: (...args: string[]) => runCli(args, options) }
}

async function remembered({ cwd, env }: { cwd: string; env: { PURSER_URL: string } }) {
  return JSON.parse(await readFile(join(cwd, '.purser', 'cli.json'), 'utf8')).brokers[env.PURSER_URL]
}

describe('purser catalog', () => {
  it('prints services and plans', async () => {
    const { run } = await begin({})
    const { code, out, err } = await run('catalog')
    expect(out).toContain('postgres')
    expect(out).toContain('  small')
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(JSON.parse((await run('catalog', '--output', 'json')).out)).toEqual(catalog)
  })

  it('says what to do about 401', async () => {
    const { run } = await begin({
      'GET /v2/catalog': { status: 401, body: { error: 'Unauthorized', description: 'who?' } },
    })
    const { code, err } = await run('catalog')
    expect(err).toBe(
      [
        'error: could not read the catalog',
        '  why: the broker answered 401 Unauthorized: who?',
        ' next: Give --user name:password or --token, or set PURSER_USERNAME and PURSER_PASSWORD.',
        '',
      ].join('\n'),
    )
    expect(code).toBe(4)
  })

  it('refuses an answer that is not a catalog', async () => {
    const { run } = await begin({ 'GET /v2/catalog': { status: 200, text: '<html>welcome</html>' } })
    const { code, err } = await run('catalog')
    expect(err).toContain('the answer is not a catalog')
    expect(code).toBe(1)
  })

  it('signs in with --user, the environment, or --token', async () => {
    const { run, broker, options } = await begin({})
    const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`
    await run('catalog', '--user', 'me:p:w')
    expect(broker.requests.at(-1)?.headers.authorization).toBe(basic('me:p:w'))
    await run('catalog', '--token', 't')
    expect(broker.requests.at(-1)?.headers.authorization).toBe('Bearer t')
    const env = { ...options.env, PURSER_USERNAME: 'env', PURSER_PASSWORD: 'pw' }
    await runCli(['catalog', '--api-version', '2.14'], { ...options, env })
    expect(broker.requests.at(-1)?.headers).toMatchObject({
      authorization: basic('env:pw'),
      'x-broker-api-version': '2.14',
    })
  })
})

describe('purser bind', () => {
  const credentials = { uri: 'postgres://u:p@h/db', ca: 'line 1\nline 2', ports: { sql: 5432 } }

  it('prints the credentials of a synchronous answer', async () => {
    const { run, broker } = await begin({ [`PUT ${binding}`]: { status: 201, body: { credentials } } })
    const { code, out, err } = await run('bind', 'db', '--id', 'app', '--param', 'role=reader')
    expect(out).toBe(
      [
        'instance_id  db',
        'binding_id   app',
        'state        succeeded',
        '',
        'uri        postgres://u:p@h/db',
        'ca         "line 1\\nline 2"',
        'ports.sql  5432',
        '',
      ].join('\n'),
    )
    expect(err).toBe('binding app\n')
    expect(code).toBe(0)
    expect(broker.requests.at(-1)?.body).toEqual({
      service_id: 'service-1',
      plan_id: 'plan-1',
      parameters: { role: 'reader' },
    })
  })

  it('fetches the credentials of an asynchronous one, and remembers none', async () => {
    const { run, options } = await begin({
      [`PUT ${binding}`]: { status: 202, body: { operation: 'op-2' } },
      [`GET ${binding}/last_operation`]: done,
      [`GET ${binding}`]: { status: 200, body: { credentials, metadata: { expires_at: 'x' }, parameters: {} } },
    })
    const { out } = await run('bind', 'db', '--id', 'app', '--output', 'json')
    expect(JSON.parse(out)).toEqual({
      instance_id: 'db',
      binding_id: 'app',
      state: 'succeeded',
      operation: 'op-2',
      credentials,
      metadata: { expires_at: 'x' },
    })
    expect((await remembered(options)).db.bindings).toEqual({ app: { operation: 'op-2' } })
  })

  it('--no-wait prints no credentials', async () => {
    const { run, broker } = await begin({ [`PUT ${binding}`]: { status: 202, body: { operation: 'op-2' } } })
    const { out } = await run('bind', 'db', '--id', 'app', '--no-wait', '--output', 'json')
    expect(JSON.parse(out)).toMatchObject({ state: 'in progress', operation: 'op-2' })
    expect(broker.calls.at(-1)).toBe(`PUT ${binding}`)
  })

  it('says what to do about RequiresApp', async () => {
    const { run } = await begin({ [`PUT ${binding}`]: { status: 422, body: { error: 'RequiresApp' } } })
    const { code, err } = await run('bind', 'db', '--id', 'app')
    expect(err).toContain('why: the broker answered 422 RequiresApp\n next: This service binds applications only')
    expect(code).toBe(1)
  })
})

describe('purser credentials', () => {
  it('prints what the broker tells about the binding', async () => {
    const { run } = await begin({ [`GET ${binding}`]: { status: 200, body: { credentials: { key: 'k' } } } })
    expect((await run('credentials', 'db', 'app')).out).toBe('key  k\n')
    expect(JSON.parse((await run('credentials', 'db', 'app', '--output', 'json')).out)).toEqual({
      instance_id: 'db',
      binding_id: 'app',
      credentials: { key: 'k' },
    })
  })

  it('fails when there are none to be had', async () => {
    const { run } = await begin({ [`GET ${binding}`]: { status: 404, body: { description: 'no such binding' } } })
    const { code, out, err } = await run('credentials', 'db', 'app')
    expect(err).toContain('error: could not read the credentials of binding app\n  why: the broker answered 404')
    expect({ code, out }).toEqual({ code: 1, out: '' })
  })
})

describe('Ctrl-C before the broker has answered', () => {
  it.each([
    ['provision postgres/small', ['provision', 'postgres', 'small', '--id', 'db'], `PUT ${instance}`, 'db'],
    ['update db', ['update', 'db', '--param', 'a=1'], `PATCH ${instance}`, 'db'],
    ['bind db', ['bind', 'db', '--id', 'app'], `PUT ${binding}`, 'db app'],
    ['unbind app', ['unbind', 'db', 'app'], `DELETE ${binding}`, 'db app'],
    ['deprovision db', ['deprovision', 'db'], `DELETE ${instance}`, 'db'],
  ])('%s: says that the broker may go on', async (label, args, request, ids) => {
    const broker = await startCannedBroker({ 'GET /v2/catalog': { status: 200, body: catalog }, [request]: 'hang' })
    const io = createTestIo({ cwd: await makeFolder() })
    const where = [
      '--url',
      broker.url,
      ...(args[0] === 'provision' ? [] : ['--service', 'postgres', '--plan', 'small']),
    ]
    const running = main([...args, ...where, '--sync', '--output', 'json'], io)
    await vi.waitUntil(() => broker.calls.includes(request), { timeout: 120_000 })
    io.interrupt()
    expect(await running).toBe(130)
    expect(JSON.parse(io.out())).toMatchObject({
      error: `stopped waiting for: ${label}`,
      why: 'interrupted before the broker had answered: it may go on',
      next: `purser status ${ids} shows whether it does.`,
      instance_id: 'db',
    })
  })
})

describe('--param and the schema of the plan', () => {
  const version = { type: 'object', properties: { version: { type: 'string' }, size: { type: 'integer' } } }
  const typed = structuredClone(catalog)
  Object.assign(typed.services[0]?.plans[0] ?? {}, {
    schemas: {
      service_instance: { create: { parameters: version }, update: { parameters: version } },
      service_binding: { create: { parameters: version } },
    },
  })

  it('types the values of provision, update and bind', async () => {
    const { run, broker } = await begin({
      'GET /v2/catalog': { status: 200, body: typed },
      [`PATCH ${instance}`]: { status: 200 },
      [`PUT ${binding}`]: { status: 201 },
    })
    const params = ['--param', 'version=9.6', '--param', 'size=3', '--param', 'other=9.6']
    for (const args of [
      ['provision', 'postgres', 'small', '--id', 'db'],
      ['update', 'db'],
      ['bind', 'db', '--id', 'app'],
    ]) {
      await run(...args, ...params)
      expect(broker.requests.at(-1)?.body).toMatchObject({ parameters: { version: '9.6', size: 3, other: 9.6 } })
    }
  })

  it('types those of update by the schema of create, where there is no other', async () => {
    const onlyCreate = structuredClone(catalog)
    const schemas = { service_instance: { create: { parameters: version } } }
    Object.assign(onlyCreate.services[0]?.plans[0] ?? {}, { schemas })
    const { run, broker } = await begin({
      'GET /v2/catalog': { status: 200, body: onlyCreate },
      [`PATCH ${instance}`]: { status: 200 },
    })
    await run('update', 'db', '--param', 'version=9.6')
    expect(broker.requests.at(-1)?.body).toMatchObject({ parameters: { version: '9.6' } })
  })
})

describe('purser unbind and deprovision', () => {
  it('send the ids and forget what is gone', async () => {
    const { run, broker, options } = await begin({
      [`PUT ${binding}`]: { status: 201 },
      [`DELETE ${binding}`]: { status: 202, body: { operation: 'op-3' } },
      [`GET ${binding}/last_operation`]: { status: 410 },
      [`DELETE ${instance}`]: { status: 202, body: { operation: 'op-4' } },
      [`GET ${instance}/last_operation`]: done,
    })
    await run('bind', 'db', '--id', 'app')
    const unbound = await run('unbind', 'db', 'app')
    expect(unbound).toMatchObject({ code: 0, out: expect.stringMatching(/^state +succeeded$/m) })
    expect((await remembered(options)).db.bindings).toEqual({})
    const removed = await run('deprovision', 'db', '--output', 'json')
    expect(JSON.parse(removed.out)).toEqual({ instance_id: 'db', state: 'succeeded', operation: 'op-4' })
    expect(await remembered(options)).toEqual({})
    const deletes = broker.requests.filter(({ method }) => method === 'DELETE').map(({ url }) => url.split('?')[1])
    expect(deletes).toEqual(Array(2).fill('service_id=service-1&plan_id=plan-1&accepts_incomplete=true'))
  })

  it('410 is an end without an error', async () => {
    const { run } = await begin({ [`DELETE ${instance}`]: { status: 410, body: { description: 'gone' } } })
    expect(await run('deprovision', 'db')).toMatchObject({ code: 0, out: expect.stringMatching(/^state +gone$/m) })
  })

  it('a failed deprovision is still remembered', async () => {
    const { run, options } = await begin({
      [`DELETE ${instance}`]: { status: 202, body: { operation: 'op-4' } },
      [`GET ${instance}/last_operation`]: { status: 200, body: { state: 'failed', instance_usable: false } },
    })
    const { code, err } = await run('deprovision', 'db')
    expect(err).toContain(
      'operation op-4 failed and the broker gave no reason\n next: The instance is no longer usable',
    )
    expect(code).toBe(5)
    expect(Object.keys(await remembered(options))).toEqual(['db'])
  })
})

describe('purser update', () => {
  it('changes plan and parameters, and remembers the new plan', async () => {
    const { run, broker, options } = await begin({
      [`PATCH ${instance}`]: { status: 202, body: { operation: 'op-5' } },
      [`GET ${instance}/last_operation`]: done,
    })
    const { code, out } = await run('update', 'db', '--plan', 'large', '--param', 'size=5', '--output', 'json')
    expect(JSON.parse(out)).toMatchObject({ instance_id: 'db', plan_id: 'plan-2', state: 'succeeded' })
    expect(code).toBe(0)
    const [patch, poll] = broker.requests.slice(-2)
    expect(patch?.body).toEqual({
      service_id: 'service-1',
      plan_id: 'plan-2',
      parameters: { size: 5 },
      previous_values: { plan_id: 'plan-1' },
    })
    // POLL-04: the plan before the change.
    expect(poll?.query.get('plan_id')).toBe('plan-1')
    expect((await remembered(options)).db.plan_id).toBe('plan-2')
  })

  it('--upgrade asks for the maintenance version of the catalog, of the plan after the update', async () => {
    const upgradable = structuredClone(catalog)
    const [small, large] = upgradable.services[0]?.plans ?? []
    Object.assign(small ?? {}, { maintenance_info: { version: '2.1.0', description: 'New kernel' } })
    Object.assign(large ?? {}, { maintenance_info: { version: '3.0.0' } })
    const { run, broker } = await begin({
      'GET /v2/catalog': { status: 200, body: upgradable },
      [`PATCH ${instance}`]: { status: 200 },
    })
    expect((await run('update', 'db', '--upgrade')).code).toBe(0)
    expect(broker.requests.at(-1)?.body).toMatchObject({ maintenance_info: { version: '2.1.0' } })
    expect((await run('update', 'db', '--upgrade', '--plan', 'large')).code).toBe(0)
    expect(broker.requests.at(-1)?.body).toMatchObject({ plan_id: 'plan-2', maintenance_info: { version: '3.0.0' } })
  })

  it('--upgrade needs a version in the catalog', async () => {
    const { run, broker } = await begin({})
    const { code, err } = await run('update', 'db', '--upgrade')
    expect(err).toContain('why: the catalog has no maintenance version for its plan small\n')
    expect(code).toBe(2)
    expect(broker.calls).not.toContain(`PATCH ${instance}`)
  })

  it('a failed update names its operation and the next command', async () => {
    const { run } = await begin({
      [`PATCH ${instance}`]: { status: 202, body: { operation: 'op-5' } },
      [`GET ${instance}/last_operation`]: { status: 200, body: { state: 'failed', description: 'no room' } },
    })
    const { code, err } = await run('update', 'db', '--param', 'size=5')
    expect(err).toContain('why: operation op-5 failed: no room\n next: Repeat it (purser update db); if it fails again')
    expect(code).toBe(5)
  })

  it('needs something to change', async () => {
    const { run, broker } = await begin({})
    const before = broker.requests.length
    expect(await run('update', 'db')).toMatchObject({
      code: 2,
      err: expect.stringContaining('there is nothing to update'),
    })
    expect(broker.requests).toHaveLength(before)
  })
})

describe('service and plan of an instance', () => {
  it('are asked from the broker where it lets instances be fetched', async () => {
    const { broker, options } = await begin({
      'GET /v2/service_instances/other': { status: 200, body: { service_id: 'service-2', plan_id: 'plan-3' } },
      'DELETE /v2/service_instances/other': { status: 200 },
    })
    expect((await runCli(['deprovision', 'other'], { ...options, cwd: await makeFolder() })).code).toBe(0)
    expect(broker.requests.at(-1)?.url).toContain('service_id=service-2&plan_id=plan-3')
  })

  it('GETI-02 are not asked for where the service does not let them be', async () => {
    const { run, broker } = await begin({ [`DELETE ${instance}`]: { status: 200 } })
    await run('deprovision', 'db')
    expect(broker.calls).not.toContain(`GET ${instance}`)
  })

  it('come from flags, by name, by id, or as they are for what has left the catalog', async () => {
    const { broker, options } = await begin({ 'DELETE /v2/service_instances/x': { status: 200 } })
    const run = async (...flags: string[]) => {
      await runCli(['deprovision', 'x', ...flags], { ...options, cwd: await makeFolder() })
      return broker.requests.at(-1)?.url.split('?')[1]
    }
    expect(await run('--service', 'postgres', '--plan', 'large')).toContain('service_id=service-1&plan_id=plan-2')
    expect(await run('--service', 'service-1', '--plan', 'plan-1')).toContain('service_id=service-1&plan_id=plan-1')
    expect(await run('--service', 'retired', '--plan', 'old')).toContain('service_id=retired&plan_id=old')
  })

  it('are asked from the user when nobody knows them', async () => {
    const { options } = await begin({})
    const { code, err } = await runCli(['unbind', 'unknown', 'app'], { ...options, cwd: await makeFolder() })
    expect(err).toContain('error: the service and plan of instance unknown are not known\n')
    expect(err).toContain(' next: Give --service and --plan, each a name or an id.\n')
    expect(code).toBe(2)
  })

  it('a broken memory is told, with what to do', async () => {
    const { options, run } = await begin({})
    await mkdir(join(options.cwd, '.purser'), { recursive: true })
    await writeFile(join(options.cwd, '.purser', 'cli.json'), '{"version": 9}')
    const { code, err } = await run('deprovision', 'db')
    expect(err).toContain('cli.json cannot be read')
    expect(err).toContain('next: Remove it')
    expect(code).toBe(1)
  })
})

describe('purser status', () => {
  it('a failed operation is an answer, a lost resource is gone', async () => {
    const { run } = await begin({
      [`GET ${instance}/last_operation`]: [
        { status: 200, body: { state: 'failed', description: 'no \u001b[31mroom' } },
        { status: 410 },
        { status: 404 },
      ],
    })
    expect(await run('status', 'db')).toMatchObject({
      code: 0,
      out: 'instance_id  db\nstate        failed\ndescription  "no \\u001b[31mroom"\n',
    })
    expect(await run('status', 'db')).toMatchObject({ code: 0, out: expect.stringContaining('gone') })
    expect(await run('status', 'db')).toMatchObject({ code: 1, out: '' })
  })

  it('asks for a binding', async () => {
    const { run, broker } = await begin({ [`GET ${binding}/last_operation`]: done })
    expect((await run('status', 'db', 'app')).code).toBe(0)
    expect(broker.calls.at(-1)).toBe(`GET ${binding}/last_operation`)
  })
})
