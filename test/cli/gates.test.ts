import { expect, it } from 'vitest'
import { startCannedBroker } from './canned-broker.ts'
import { makeFolder, runCli } from './test-io.ts'

const gate = { action: 'new', message: 'No.', by: 'ops', since: '2026-01-01T00:00:00.000Z' }

async function run(args: readonly string[], answers: Parameters<typeof startCannedBroker>[0]) {
  const broker = await startCannedBroker(answers)
  const result = await runCli(args, { cwd: await makeFolder(), env: { PURSER_URL: broker.url } })
  return { ...result, requests: broker.requests }
}

const plans = [{ id: 'p1', name: 'small', description: 'A plan' }]
const services = [{ id: 's1', name: 'kv', description: 'A service', plans }]
const catalog = { 'GET /admin/catalog': { status: 200, body: { services } } }

it('purser gates close and open take names, and leave ids that the catalog does not have to the broker', async () => {
  const places = [
    [['--service', 'kv', '--plan', 'small'], { service_id: 's1', plan_id: 'p1' }],
    [['--service', 's1', '--plan', 'p1'], { service_id: 's1', plan_id: 'p1' }],
    [['--service', 'retired', '--plan', 'small'], { service_id: 'retired', plan_id: 'small' }],
  ] as const
  const answers = { status: 200, body: gate }
  for (const [place, ids] of places) {
    const closing = ['gates', 'close', 'bind', '--message', 'No.', ...place]
    const closed = await run(closing, { ...catalog, 'PUT /admin/gates/bind': answers })
    expect(closed.requests.at(-1)?.body).toEqual({ message: 'No.', ...ids })
    const opened = await run(['gates', 'open', 'bind', ...place], { ...catalog, 'DELETE /admin/gates/bind': answers })
    expect(Object.fromEntries(opened.requests.at(-1)?.query ?? [])).toEqual(ids)
  }
})

it('purser gates list, close and open', async () => {
  const list = await run(['gates', 'list'], { 'GET /admin/gates': { status: 200, body: { gates: [gate] } } })
  expect(list.out).toContain('new                    2026-01-01T00:00:00.000Z  ops  No.\n')
  const none = await run(['gates', 'list'], { 'GET /admin/gates': { status: 200, body: { gates: [] } } })
  expect(none.out).toBe('No gate is closed.\n')
  const closing = ['gates', 'close', 'new', '--message', 'No.', '--service', 's', '--plan', 'p', '--retry-after', '60']
  const closed = await run(closing, { ...catalog, 'PUT /admin/gates/new': { status: 200, body: gate } })
  expect(closed.requests.at(-1)?.body).toEqual({ message: 'No.', service_id: 's', plan_id: 'p', retry_after: 60 })
  const opened = await run(['gates', 'open', 'new', '--service', 's', '--reason', 'It is moved.'], {
    ...catalog,
    'DELETE /admin/gates/new': { status: 200, body: gate },
  })
  expect([opened.code, String(opened.requests.at(-1)?.query)]).toEqual([0, 'service_id=s&reason=It+is+moved.'])
  const refused = await run(['gates', 'close', 'new'], {})
  expect(refused.code).toBe(2)
})
