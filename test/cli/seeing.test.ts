import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { main } from '../../src/cli/main.ts'
import { startCannedBroker } from './canned-broker.ts'
import { createTestIo, makeFolder, runCli } from './test-io.ts'

const at = '2026-01-01T00:00:00.000Z'
type Answers = Parameters<typeof startCannedBroker>[0]

async function run(args: readonly string[], answers: Answers) {
  const broker = await startCannedBroker(answers)
  const result = await runCli(args, { cwd: await makeFolder(), env: { PURSER_URL: broker.url } })
  return { ...result, requests: broker.requests }
}

describe('purser errors', () => {
  const group = {
    fingerprint: '9c1f0d2ab7e34c55',
    service_id: 's',
    action: 'provision',
    step: 'create',
    count: 3,
    failed: 2,
    retrying: 1,
    first_at: at,
    last_at: at,
    sample: { operation_id: 'o', instance_id: 'i', message: 'no \u001b[31mquota' },
    operations: ['o'],
  }

  it('shows a line for each kind, and JSON lines where they are asked for', async () => {
    const answers = { 'GET /admin/errors': { status: 200, body: { items: [group], complete: true } } }
    const { code, out, requests } = await run(['errors', '--service', 's', '--since', at], answers)
    expect(Object.fromEntries(requests[0]?.query ?? [])).toEqual({ service_id: 's', since: at })
    expect(out).toContain('9c1f0d2ab7e34c55  provision  create  2       1')
    expect(code).toBe(0)
    expect((await run(['errors', '--output', 'jsonl'], answers)).out).toBe(`${JSON.stringify(group)}\n`)
    expect((await run(['errors', '--output', 'none'], answers)).out).toBe('')
  })

  it('exits with 4 where the credentials are not enough', async () => {
    const body = { error: 'Forbidden', detail: 'This needs the role viewer' }
    expect((await run(['errors'], { 'GET /admin/errors': { status: 403, body } })).code).toBe(4)
  })
})

describe('purser stats, workers, quotas and history', () => {
  it('show what the broker says', async () => {
    const stats = {
      at,
      age_seconds: 3,
      operations: { queued: 2 },
      instances: [{ service_id: 's', plan_id: 'p', phase: 'ready', usable: true, instances: 7 }],
    }
    const shown = await run(['stats'], { 'GET /admin/stats': { status: 200, body: stats } })
    expect(shown.out).toMatch(/queued +2\n/)
    expect(shown.out).toMatch(/s +p +ready +true +7\n/)
    const worker = {
      owner: 'host/1/x',
      version: '1.0.0',
      since: at,
      seen_at: at,
      slots: 4,
      used: 1,
      free: 3,
      leases: 1,
    }
    const workers = await run(['workers'], { 'GET /admin/workers': { status: 200, body: { items: [worker] } } })
    expect(workers.out).toMatch(/1\.0\.0 .* 1 of 4 .* host\/1\/x\n/)
    const quota = { platform: 'cf', use: { instances: 3, bindings: 1, operations: 0 }, limit: { instances: 5 } }
    const quotas = await run(['quotas'], { 'GET /admin/quotas': { status: 200, body: { items: [quota] } } })
    expect(quotas.out).toMatch(/cf +3 of 5 +1 of any +0 of any\n/)
    const act = { at, by: 'ops', verb: 'abandon', instance_id: 'i', reason: 'gone' }
    const gate = { at, by: 'ops', verb: 'open-gate', instance_id: '', address: '10.0.0.1', before: { action: 'bind' } }
    const history = await run(['history', 'list', '--by', 'ops'], {
      'GET /admin/history': { status: 200, body: { items: [act, gate] } },
    })
    expect(history.out).toMatch(/ops +abandon +i +- +gone\n/)
    expect(history.out).toMatch(/ops +open-gate +bind from 10\.0\.0\.1 +-/)
    expect(history.requests[0]?.query.get('by')).toBe('ops')
  })
})

describe('purser wait', () => {
  const instance = { id: 'i', phase: 'creating', usable: true, created_at: at }
  const operation = { id: 'o', state: 'running', action: 'provision' }
  const of = (...bodies: readonly object[]) => bodies.map(body => ({ status: 200, body }))

  it('ends when an instance is ready, by what was seen or by what its operation left', async () => {
    const seen = { ...instance, phase: 'ready', conditions: [{ type: 'Ready', status: false }] }
    const ready = { ...seen, conditions: [{ type: 'Ready', status: true }] }
    const answers = { 'GET /admin/instances/i': of(instance, seen, ready) }
    const { code, out } = await run(['wait', 'instances/i', '--for=condition=Ready'], answers)
    expect({ code, out }).toEqual({ code: 0, out: 'instances/i is condition=Ready\n' })
    const unseen = { 'GET /admin/instances/i': of({ ...instance, phase: 'ready' }) }
    expect((await run(['wait', 'instances/i'], unseen)).code).toBe(0)
    const gone = { 'GET /admin/instances/i': { status: 404, body: { error: 'InstanceNotFound' } } }
    expect((await run(['wait', 'instances/i', '--for=deleted'], gone)).code).toBe(0)
  })

  it('exits with 3 when the time is over, with 5 when it has failed, with 2 for what cannot be', async () => {
    const waits = { 'GET /admin/operations/o': of(operation) }
    expect((await run(['wait', 'operations/o', '--timeout', '3s'], waits)).code).toBe(3)
    const failed = {
      'GET /admin/operations/o': of(operation, { ...operation, state: 'failed', description: 'no room' }),
    }
    const ended = await run(['wait', 'operations/o'], failed)
    expect(ended.code).toBe(5)
    expect(ended.err).toContain('no room')
    expect((await run(['wait', 'operations/o', '--for=condition=Ready'], waits)).code).toBe(2)
  })
})

describe('purser operations watch', () => {
  const operation = { id: 'o', instance_id: 'i', action: 'provision', state: 'running', accepted_at: at }

  async function watch(tty: boolean) {
    const ended = { ...operation, state: 'succeeded' }
    const pages = [operation, operation, operation, operation, operation, operation, ended, ended, ended]
    const answers = { 'GET /admin/operations': pages.map(item => ({ status: 200, body: { items: [item] } })) }
    const broker = await startCannedBroker(answers)
    const io = createTestIo({ cwd: await makeFolder(), env: { PURSER_URL: broker.url }, tty })
    const running = main(['operations', 'watch'], io)
    await expect.poll(() => io.out()).toContain('succeeded')
    io.interrupt()
    expect(await running).toBe(130)
    return io.out()
  }

  it('prints a line of JSON for each change in a pipe', async () => {
    const lines = (await watch(false)).trim().split('\n')
    expect(lines.map(line => JSON.parse(line).state)).toEqual(['running', 'succeeded'])
  })

  it('draws the table again in its place on a terminal', async () => {
    const out = await watch(true)
    expect(out).toMatch(/^OPERATION/)
    expect(out).toContain('\u001b[2A\u001b[J')
  })
})

describe('purser config check', () => {
  it('says that there is no mistake, or lists all of them with 2', async () => {
    const cwd = await makeFolder()
    await writeFile(join(cwd, 'purser.yaml'), 'store: "postgres://u:secret@db/x"\n')
    const right = await runCli(['config', 'check'], { cwd })
    expect(right).toMatchObject({ code: 0, out: expect.stringContaining('no mistakes') })
    expect(right.out).not.toContain('secret')
    await writeFile(join(cwd, 'purser.yaml'), 'server:\n  port: many\nstor: x\n')
    const wrong = await runCli(['config', 'check'], { cwd })
    expect(wrong.code).toBe(2)
    expect(wrong.err).toMatch(/server\.port/)
    expect(wrong.err).toMatch(/stor\b/)
  })
})
