import { describe, expect, it } from 'vitest'
import { main } from '../../src/cli/main.ts'
import { startCannedBroker } from './canned-broker.ts'
import { createTestIo, makeFolder, runCli } from './test-io.ts'

const at = '2026-01-01T00:00:00.000Z'
const batch = { id: 'b1', action: 'retry', state: 'planned', total: 2, by: 'ops', created_at: at, reason: 'why' }
const items = [
  { id: 'o1', allowed: true },
  { id: 'o2', allowed: false, reason: 'It has not ended.' },
]
const planned = { status: 200, body: { ...batch, token: 'b1', allowed: 1, refused: 1, items } }
const ended = { ...batch, state: 'done', finished_at: at, done: 2, refused: 0, left: 0 }

async function run(args: readonly string[], answers: Parameters<typeof startCannedBroker>[0]) {
  const broker = await startCannedBroker(answers)
  const result = await runCli(args, { cwd: await makeFolder(), env: { PURSER_URL: broker.url } })
  return { ...result, requests: broker.requests, calls: broker.calls }
}

const many = ['operations', 'retry', '--query', 'state=failed', '--query', 'action=bind', '--reason', 'why']

describe('a verb on all that match', () => {
  it('with --dry-run says what would become of each, and does nothing', async () => {
    const { code, out, requests } = await run([...many, '--dry-run', '--canary', '2'], {
      'POST /admin/batches': planned,
    })
    expect(requests.map(({ body }) => body)).toEqual([
      { action: 'retry', operations: { state: 'failed', action: 'bind' }, reason: 'why', canary: 2, dry_run: true },
    ])
    expect(out).toBe(
      'ITEM  OUTCOME  OPERATION  WHY NOT\no1    allowed\no2    refused             It has not ended.\n\ntotal    2\nallowed  1\nrefused  1\ntoken    b1\n',
    )
    expect(code).toBe(0)
  })

  it('looks, applies what it has seen, and waits', async () => {
    const { code, out, requests } = await run([...many, '--yes'], {
      'POST /admin/batches': [planned, { status: 202, body: { ...batch, state: 'running' } }],
      'GET /admin/batches/b1': { status: 200, body: ended },
    })
    expect(requests[1]?.body).toEqual({ token: 'b1' })
    expect(out).toContain('state        done\n')
    expect(code).toBe(0)
  })

  it('ends with 6 where some were refused', async () => {
    const { code, err } = await run([...many, '--yes'], {
      'POST /admin/batches': [planned, { status: 202, body: { ...batch, state: 'running' } }],
      'GET /admin/batches/b1': { status: 200, body: { ...ended, done: 1, refused: 1 } },
    })
    expect(err).toContain('1 done, 1 refused, 0 left')
    expect(code).toBe(6)
  })

  it.each([
    [['operations', 'retry', '--reason', 'x']],
    [['operations', 'retry', 'o1', '--query', 'state=failed', '--reason', 'x']],
    [['operations', 'retry', '--query', 'state', '--reason', 'x']],
    [['operations', 'retry', '--query', 'state=failed']],
    [['operations', 'retry', 'o1', '--dry-run']],
    [['instances', 'observe']],
    [['instances', 'observe', '--query', 'usable=false']],
    [['instances', 'move', 'i1', '--query', 'phase=ready', '--reason', 'x']],
    [['instances', 'abandon', 'i1', '--canary', '1', '--reason', 'x']],
  ])('%j is wrong usage', async args => {
    const { code, calls } = await run(args, {})
    expect({ code, calls }).toEqual({ code: 2, calls: [] })
  })

  it('without --yes and without a terminal acts on nothing', async () => {
    const { code, requests } = await run(many, { 'POST /admin/batches': planned })
    expect({ code, sent: requests.length }).toEqual({ code: 2, sent: 1 })
  })
})

describe('a verb on all instances that match', () => {
  it.each([
    [['observe', '--query', 'usable=false'], { action: 'observe', instances: { usable: false } }],
    [
      ['move', '--query', 'revision_id=r1', '--revision', 'r2', '--concurrency', '3'],
      { action: 'move', instances: { revision_id: 'r1' }, revision: 'r2', concurrency: 3 },
    ],
    [
      ['purge', '--query', 'phase=failed', '--query', 'plan_id=p', '--bindings'],
      { action: 'abandon', instances: { phase: 'failed', plan_id: 'p' }, bindings: true },
    ],
  ])('%j plans it', async (args, order) => {
    const given = ['instances', ...args, '--reason', 'why', '--dry-run']
    const { code, requests } = await run(given, { 'POST /admin/batches': planned })
    expect(requests.map(({ body }) => body)).toEqual([{ ...order, reason: 'why', dry_run: true }])
    expect(code).toBe(0)
  })

  it('asks, shows how far it has come, and waits', async () => {
    const running = { ...batch, state: 'running' }
    const broker = await startCannedBroker({
      'POST /admin/batches': [planned, { status: 202, body: running }],
      'GET /admin/batches/b1': [
        { status: 200, body: { ...running, done: 1, refused: 0, left: 1 } },
        { status: 200, body: ended },
      ],
    })
    const io = createTestIo({ cwd: await makeFolder(), env: { PURSER_URL: broker.url } })
    io.stdin.isTTY = true
    io.stdin.end('y\n')
    const args = ['instances', 'observe', '--query', 'usable=false', '--reason', 'why']
    expect(await main(args, io)).toBe(0)
    expect(io.err()).toContain('1 instance of 2; 1 would be refused.\nobserve 2 instances? [y/N] ')
    expect(io.err()).toMatch(/: 1\/2\n.*: 2\/2\n$/)
  })
})

it('purser batches list, show, items and stop', async () => {
  const list = await run(['batches', 'list'], { 'GET /admin/batches': { status: 200, body: { items: [batch] } } })
  expect(list.out).toContain('b1     retry   planned  2      ops  2026')
  const show = await run(['batches', 'show', 'b1'], { 'GET /admin/batches/b1': { status: 200, body: ended } })
  expect(show.out).toContain('done         2\n')
  const shown = { items: [{ id: 'o1', outcome: 'refused', detail: 'It has not ended.' }] }
  const item = await run(['batches', 'items', 'b1'], { 'GET /admin/batches/b1/items': { status: 200, body: shown } })
  expect(item.out).toContain('o1    refused             It has not ended.\n')
  const stop = await run(['batches', 'stop', 'b1', '--reason', 'too early'], {
    'POST /admin/batches/b1/stop': { status: 202, body: batch },
  })
  expect([stop.code, stop.requests[0]?.body]).toEqual([0, { reason: 'too early' }])
  const gone = { status: 404, error: 'UnknownBatch', detail: 'There is no batch.' }
  const none = await run(['batches', 'show', 'x'], { 'GET /admin/batches/x': { status: 404, body: gone } })
  expect(none.code).toBe(1)
})

it.each([
  [400, 'Malformed', 'Correct what the broker names; the --help of the command shows what there is.'],
  [404, 'UnknownBatch', 'Check the id: the list of its kind shows those there are.'],
])('a refusal of the operators’ API with %i has advice of its own', async (status, error, next) => {
  const body = { type: `urn:purser:error:${error}`, title: error, status, error, detail: 'No.' }
  const { err } = await run(['batches', 'show', 'x'], { 'GET /admin/batches/x': { status, body } })
  expect(err).toContain(`next: ${next}\n`)
})
