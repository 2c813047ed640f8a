import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { main } from '../../src/cli/main.ts'
import { catalog, startCannedBroker } from './canned-broker.ts'
import { createTestIo, makeFolder, runCli } from './test-io.ts'

const put = 'PUT /v2/service_instances/db'
const poll = 'GET /v2/service_instances/db/last_operation'
const ok = { 'GET /v2/catalog': { status: 200, body: catalog } }
const accepted = { status: 202, body: { operation: 'op-1', dashboard_url: 'https://dash/db' } }

describe('purser provision', () => {
  it('polls an asynchronous provision to its end, with a line for each new description', async () => {
    const running = (description: string) => ({ status: 200, body: { state: 'in progress', description } })
    const broker = await startCannedBroker({
      ...ok,
      [put]: accepted,
      [poll]: [
        running('starting'),
        running('starting'),
        running('2/5 done'),
        { status: 200, body: { state: 'succeeded' } },
      ],
    })
    const cwd = await makeFolder()
    const args = ['provision', 'postgres', 'small', '--id', 'db', '--url', broker.url]
    const { code, out, err } = await runCli([...args, '--param', 'size=3', '--param', 'a.b=c'], { cwd })
    expect(err).toBe('instance db\nprovision postgres/small: starting\nprovision postgres/small: 2/5 done\n')
    expect(out).toBe(
      [
        'instance_id    db',
        'service        postgres',
        'plan           small',
        'service_id     service-1',
        'plan_id        plan-1',
        'state          succeeded',
        'dashboard_url  https://dash/db',
        'operation      op-1',
        '',
      ].join('\n'),
    )
    expect(code).toBe(0)
    expect(broker.requests[1]?.query.get('accepts_incomplete')).toBe('true')
    expect(broker.requests[1]?.body).toEqual({
      service_id: 'service-1',
      plan_id: 'plan-1',
      organization_guid: 'purser-cli',
      space_guid: 'purser-cli',
      context: { platform: 'purser-cli' },
      parameters: { size: 3, a: { b: 'c' } },
    })
    expect(broker.requests[2]?.query.get('operation')).toBe('op-1')
  })

  it('prints one JSON object and nothing else on stdout', async () => {
    const broker = await startCannedBroker({ ...ok, [put]: { status: 201, body: { dashboard_url: null } } })
    const args = ['provision', 'service-1', 'plan-2', '--id', 'db', '--output', 'json', '--sync']
    const { code, out } = await runCli(args, { cwd: await makeFolder(), env: { PURSER_URL: broker.url } })
    expect(JSON.parse(out)).toEqual({
      instance_id: 'db',
      service: 'postgres',
      plan: 'large',
      service_id: 'service-1',
      plan_id: 'plan-2',
      state: 'succeeded',
    })
    expect(code).toBe(0)
    expect(broker.requests[1]?.query.has('accepts_incomplete')).toBe(false)
  })

  it('--no-wait leaves the operation to purser status, which knows it', async () => {
    const broker = await startCannedBroker({
      ...ok,
      [put]: accepted,
      [poll]: { status: 200, body: { state: 'in progress', description: 'starting' } },
    })
    const options = { cwd: await makeFolder(), env: { PURSER_URL: broker.url } }
    const { out } = await runCli(['provision', 'postgres', 'small', '--id', 'db', '--no-wait'], options)
    expect(out).toContain('state          in progress')
    expect(broker.calls).not.toContain(poll)
    const status = await runCli(['status', 'db', '--output', 'json'], options)
    expect(JSON.parse(status.out)).toEqual({
      instance_id: 'db',
      state: 'in progress',
      description: 'starting',
      operation: 'op-1',
    })
    expect(broker.requests.at(-1)?.url).toContain('service_id=service-1&plan_id=plan-1&operation=op-1')
  })

  it('makes up an id and says it before anything can go wrong', async () => {
    const broker = await startCannedBroker(ok)
    const { code, err } = await runCli(['provision', 'postgres', 'small', '--url', broker.url], {
      cwd: await makeFolder(),
    })
    expect(err).toMatch(/^instance [0-9a-f-]{36}\n/)
    expect(code).toBe(1)
  })

  it('takes organization and space from the context', async () => {
    const broker = await startCannedBroker({ ...ok, [put]: { status: 201 } })
    const context = { platform: 'cloudfoundry', organization_guid: 'org', space_guid: 'space' }
    const args = ['provision', 'postgres', 'small', '--id', 'db', '--context', JSON.stringify(context)]
    await runCli(args, { cwd: await makeFolder(), env: { PURSER_URL: broker.url } })
    expect(broker.requests[1]?.body).toMatchObject({ organization_guid: 'org', space_guid: 'space', context })
  })

  it('a refusal is three lines and exit code 1, and is not remembered', async () => {
    const body = { error: 'InstanceConflict', description: 'it exists with other attributes' }
    const broker = await startCannedBroker({ ...ok, [put]: { status: 409, body } })
    const cwd = await makeFolder()
    const options = { cwd, env: { PURSER_URL: broker.url } }
    const { code, out, err } = await runCli(['provision', 'postgres', 'small', '--id', 'db'], options)
    expect(err).toBe(
      [
        'instance db',
        'error: could not provision postgres/small',
        '  why: the broker answered 409 InstanceConflict: it exists with other attributes',
        ' next: The id is taken by something made with other attributes: choose another with --id.',
        '',
      ].join('\n'),
    )
    expect(out).toBe('')
    expect(code).toBe(1)
    expect(JSON.parse(await readFile(join(cwd, '.purser', 'cli.json'), 'utf8')).brokers[broker.url]).toEqual({})
  })

  it('a failed operation is exit code 5 and says how to clean up', async () => {
    const failed = { status: 200, body: { state: 'failed', description: 'no room left' } }
    const broker = await startCannedBroker({ ...ok, [put]: accepted, [poll]: failed })
    const args = ['provision', 'postgres', 'small', '--id', 'db', '--url', broker.url]
    const { code, err } = await runCli(args, { cwd: await makeFolder() })
    expect(err).toContain('why: operation op-1 failed: no room left\n next: purser deprovision db removes what is left')
    expect(code).toBe(5)
  })

  it("CAT-37 DUR-02 gives up at the plan's limit or at --timeout, whichever comes first", async () => {
    const running = { status: 200, body: { state: 'in progress', description: 'starting' } }
    const broker = await startCannedBroker({ ...ok, [put]: accepted, [poll]: running })
    const options = { cwd: await makeFolder(), env: { PURSER_URL: broker.url } }
    const args = ['provision', 'postgres', 'large', '--id', 'db']
    expect((await runCli(args, options)).err).toContain('why: operation op-1 has not ended after 1 minute: starting')
    const { code, err } = await runCli([...args, '--timeout', '20s'], options)
    expect(err).toContain(
      'why: operation op-1 has not ended after 20 seconds: starting\n next: purser status db shows whether',
    )
    expect(code).toBe(3)
  })

  it('Ctrl-C stops the waiting, not the operation', async () => {
    const running = { status: 200, body: { state: 'in progress', description: 'starting' } }
    const broker = await startCannedBroker({ ...ok, [put]: accepted, [poll]: running })
    const io = createTestIo({
      cwd: await makeFolder(),
      onErr: text => {
        if (text.includes('starting')) io.interrupt()
      },
    })
    const code = await main(['provision', 'postgres', 'small', '--id', 'db', '--url', broker.url], io)
    expect(io.err()).toContain(
      'why: interrupted; the broker goes on with operation op-1\n next: purser status db shows',
    )
    expect(code).toBe(130)
  })

  it('keeps ids in a private file, never parameters or credentials', async () => {
    const broker = await startCannedBroker({
      ...ok,
      [put]: accepted,
      [poll]: { status: 200, body: { state: 'succeeded' } },
    })
    const cwd = await makeFolder()
    const url = broker.url.replace('//', '//user:topsecret@')
    const args = ['provision', 'postgres', 'small', '--id', 'db', '--url', url, '--param', 'password=topsecret']
    expect((await runCli(args, { cwd })).code).toBe(0)
    const file = join(cwd, '.purser', 'cli.json')
    const text = await readFile(file, 'utf8')
    expect(text).not.toContain('topsecret')
    expect(JSON.parse(text)).toEqual({
      version: 1,
      brokers: {
        [broker.url]: { db: { service_id: 'service-1', plan_id: 'plan-1', operation: 'op-1', bindings: {} } },
      },
    })
    expect((await stat(file)).mode & 0o777).toBe(0o600)
  })
})

describe('the live line', () => {
  const running = { status: 200, body: { state: 'in progress', description: 'copied 40%' } }
  const answers = { ...ok, [put]: accepted, [poll]: [running, { status: 200, body: { state: 'succeeded' } }] }
  const args = ['provision', 'postgres', 'small', '--id', 'db']

  it('is redrawn in place on a terminal and leaves nothing behind', async () => {
    const broker = await startCannedBroker(answers)
    const options = { cwd: await makeFolder(), env: { PURSER_URL: broker.url }, tty: true, columns: 100 }
    const { err } = await runCli(args, options)
    expect(err).toContain('[████████░░░░░░░░░░░░] 40%')
    expect(err).toContain('\u001b[36m')
    expect(err.endsWith('\r\u001b[2K')).toBe(true)
    expect(err.split('\n')).toHaveLength(2)
  })

  it('has no colour with NO_COLOR', async () => {
    const broker = await startCannedBroker(answers)
    const env = { PURSER_URL: broker.url, NO_COLOR: '1' }
    const { err } = await runCli(args, { cwd: await makeFolder(), env, tty: true, columns: 100 })
    expect(err).toContain('40%')
    expect(err).not.toContain('\u001b[36m')
  })

  it('is not there in CI', async () => {
    const broker = await startCannedBroker(answers)
    const env = { PURSER_URL: broker.url, CI: 'true' }
    const { err } = await runCli(args, { cwd: await makeFolder(), env, tty: true })
    expect(err).toBe('instance db\nprovision postgres/small: copied 40%\n')
  })
})
