import { expect, it } from 'vitest'
import { startCannedBroker } from './canned-broker.ts'
import { makeFolder, runCli } from './test-io.ts'

const old = { kind: 'orphan', service_id: 'good', name: 'old', instance_id: 'old', removable: true }
const failed = [{ service_id: 'broken', reason: 'A right is missing.' }]
const report = { items: [old], services: ['good'], failed, incomplete: false }

async function run(args: readonly string[], found: object, removed: object = {}) {
  const broker = await startCannedBroker({
    'GET /admin/orphans': { status: 200, body: found },
    'POST /admin/orphans/remove': { status: 200, body: removed },
  })
  const result = await runCli(['orphans', ...args], { cwd: await makeFolder(), env: { PURSER_URL: broker.url } })
  return { ...result, calls: broker.calls }
}

it('purser orphans shows what it knows, and ends with the services that could not be compared', async () => {
  const { code, out, err } = await run([], report)
  expect([code, out]).toEqual([6, expect.stringMatching(/\norphan +good +old +old +- +can be removed\n/)])
  expect(err).toContain('1 service could not be compared')
  expect(err).toContain('broken: A right is missing.')
  const none = await run([], { ...report, items: [] })
  expect([none.code, none.out]).toEqual([6, 'The other backends and the ledger agree.\n'])
  const json = await run(['--output', 'json'], report)
  expect([json.code, JSON.parse(json.out)]).toEqual([6, expect.objectContaining({ items: [old], failed })])
  expect((await run([], { ...report, failed: [] })).code).toBe(0)
})

it('purser orphans --fix removes what the others have left', async () => {
  const removed = { ...report, items: [{ ...old, operation: 'op-1' }] }
  const { code, out, calls } = await run(['--fix', '--reason', 'a try', '--yes'], report, removed)
  expect([code, out]).toEqual([6, expect.stringContaining('is removed by op-1')])
  expect(calls).toEqual(['GET /admin/orphans', 'POST /admin/orphans/remove'])
})

it.each([
  [['kv'], 'The backends and the ledger agree.\n'],
  [[], 'No service of this broker can list its backend: nothing was compared.\n'],
])('purser orphans, where %j were compared and nothing was found', async (services, told) => {
  const { code, out } = await run([], { items: [], services, incomplete: false })
  expect([code, out]).toEqual([0, told])
})
