/** Far more clients than a broker can serve, against the real command. How fast it is, `npm run bench -- --only overload` tells. */
import { expect, it } from 'vitest'
import { endsOf, flood } from '../../bench/overload.ts'
import { useBuiltPackage } from '../cli/built-package.ts'
import { ids } from '../engine/world.ts'
import { makeDeployment } from './processes.ts'

const built = useBuiltPackage()

it('2,000 clients that never pause: refused with a time, health is answered, and all that was accepted ends', async () => {
  const { start } = await makeDeployment(built, {
    store: 'sqlite:ledger.db',
    engine: { concurrency: 4, timeouts: { provision: '20s' } },
    osb: { requireOrgAndSpace: false },
    log: { format: 'json' },
  })
  const { url, pid, client } = await start()
  const headers = { 'x-broker-api-version': '2.17' }
  const body = { ...ids, parameters: { stepMs: 50 } }
  const {
    statuses,
    accepted,
    untimed,
    broken,
    health,
    megabytes = 0,
  } = await flood({
    url,
    pid,
    headers,
    body,
    connections: 2_000,
    ms: 6_000,
  })
  expect(Object.keys(statuses).sort()).toEqual(['202', '503'])
  expect({ untimed, broken }).toEqual({ untimed: 0, broken: 0 })
  // 40 operations a second at best: what was accepted had to have a chance.
  expect(statuses['503']).toBeGreaterThan(2_000 - accepted.length)
  expect(health.asked).toBeGreaterThan(0)
  expect(health.bad).toBe(0)
  expect(health.slowest).toBeLessThan(60_000)
  expect(megabytes).toBeLessThan(700)
  const ends = await endsOf({ url, headers }, accepted)
  expect([...ends.values()].reduce((sum, count) => sum + count, 0)).toBe(accepted.length)
  for (const end of ends.keys()) expect(end).toMatch(/^200 (succeeded|failed)/)
  expect(ends.get('200 succeeded')).toBeGreaterThan(0)
  expect((await client.provision('afterwards', { ...ids, parameters: {} })).status).toBe(201)
})
