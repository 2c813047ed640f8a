import { expect, it } from 'vitest'
import { startCannedBroker } from './canned-broker.ts'
import { makeFolder, runCli } from './test-io.ts'

const gate = { action: 'new', message: 'No.', by: 'ops', since: '2026-01-01T00:00:00.000Z' }

async function run(args: readonly string[], answers: Parameters<typeof startCannedBroker>[0]) {
  const broker = await startCannedBroker(answers)
  const result = await runCli(args, { cwd: await makeFolder(), env: { PURSER_URL: broker.url } })
  return { ...result, requests: broker.requests }
}

it('purser gates list, close and open', async () => {
  const list = await run(['gates', 'list'], { 'GET /admin/gates': { status: 200, body: { gates: [gate] } } })
  expect(list.out).toContain('new                    2026-01-01T00:00:00.000Z  ops  No.\n')
  const none = await run(['gates', 'list'], { 'GET /admin/gates': { status: 200, body: { gates: [] } } })
  expect(none.out).toBe('No gate is closed.\n')
  const closing = ['gates', 'close', 'new', '--message', 'No.', '--service', 's', '--plan', 'p', '--retry-after', '60']
  const closed = await run(closing, { 'PUT /admin/gates/new': { status: 200, body: gate } })
  expect(closed.requests[0]?.body).toEqual({ message: 'No.', service_id: 's', plan_id: 'p', retry_after: 60 })
  const opened = await run(['gates', 'open', 'new', '--service', 's', '--reason', 'It is moved.'], {
    'DELETE /admin/gates/new': { status: 200, body: gate },
  })
  expect([opened.code, String(opened.requests[0]?.query)]).toEqual([0, 'service_id=s&reason=It+is+moved.'])
  const refused = await run(['gates', 'close', 'new'], {})
  expect(refused.code).toBe(2)
})
