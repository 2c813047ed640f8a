import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { inNewFolder } from './new-folder.ts'
import { flood } from './overload.ts'
import { cores, onLoadCore, pin } from './pin.ts'
import { osbHeaders } from './requests.ts'
import { atMost, median, noGoal, type Result, type Round, toResult } from './result.ts'
import { servePurser } from './served.ts'

const brokerModule = `
import { setTimeout as sleep } from 'node:timers/promises'
import { defineBroker, defineService } from ${JSON.stringify(new URL('../dist/index.js', import.meta.url).href)}
const service = (id, work) => defineService({
  id, name: id, description: 'Of the benchmark', bindable: false,
  plans: [{ id: id + '-plan', name: 'plan', description: 'The plan' }],
  async provision(ctx) { await ctx.step('create', work) },
  async deprovision() {},
})
export default defineBroker({ services: [service('quick', () => sleep(200)), service('slow', () => sleep(3_600_000))] })
`

const bodyOf = (id: string) => ({
  service_id: id,
  plan_id: `${id}-plan`,
  organization_guid: 'org',
  space_guid: 'space',
})

/**
 * A service that hangs and is asked for by 200 clients that never pause, and 200 others that try passwords, all at once. Beside
 * them a platform provisions instances of another service, one after the other: from each PUT to the poll that says succeeded.
 */
export async function benchFairness(rounds: number): Promise<Result[]> {
  return inNewFolder(folder =>
    onLoadCore(async () => {
      await writeFile(join(folder, 'broker.mjs'), brokerModule)
      const config = { broker: 'broker.mjs', engine: { timeouts: { provision: '1m' } } }
      const server = await servePurser(folder, config)
      // Clients in need of time take none of the server's.
      pin(server.pid, cores.server)
      try {
        const results: Round[] = []
        let refused = 0
        for (let round = 0; round < rounds; round += 1) {
          const alone = await provisionSome(server.url, `alone-${round}`, sleep(4_000))
          const load = { ...server, connections: 200, ms: 8_000 }
          const wrong = { ...osbHeaders, authorization: `Basic ${Buffer.from('bench:wrong').toString('base64')}` }
          const floods = Promise.all([
            flood({ ...load, headers: osbHeaders, body: bodyOf('slow') }),
            flood({ ...load, headers: wrong, body: bodyOf('quick') }),
          ])
          const beside = await provisionSome(server.url, `beside-${round}`, floods)
          for (const { statuses } of await floods) process.stderr.write(`${JSON.stringify(statuses)}\n`)
          refused += beside.refused
          results.push({ ours: median(beside.times), baseline: median(alone.times) })
        }
        return [
          toResult(
            'fairness: another service while one hangs, under a flood of it and of logins',
            'ms',
            results,
            atMost(2),
          ),
          toResult(
            'fairness: requests for that service that were refused',
            '',
            [{ ours: refused, baseline: 0 }],
            noGoal,
          ),
        ]
      } finally {
        await server.stop()
      }
    }),
  )
}

/** One after the other until `over`. */
async function provisionSome(url: string, name: string, over: Promise<unknown>) {
  const times: number[] = []
  let refused = 0
  let isOver = false
  void over.finally(() => {
    isOver = true
  })
  for (let number = 0; !isOver; number += 1) {
    const path = `${url}/v2/service_instances/${name}-${number}`
    const from = performance.now()
    const put = await fetch(`${path}?accepts_incomplete=true`, {
      method: 'PUT',
      headers: { ...osbHeaders, 'content-type': 'application/json' },
      body: JSON.stringify(bodyOf('quick')),
    })
    if (put.status !== 202) refused += 1
    while (put.status === 202) {
      const polled = await fetch(`${path}/last_operation`, { headers: osbHeaders })
      if (((await polled.json()) as { state?: string }).state === 'succeeded') break
      await sleep(10)
    }
    if (put.status === 202) times.push(performance.now() - from)
  }
  return { times, refused }
}
