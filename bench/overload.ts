import { fork } from 'node:child_process'
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { inNewFolder } from './new-folder.ts'
import { osbHeaders } from './requests.ts'
import { type Result, toResult } from './result.ts'
import { servePurser } from './served.ts'

export interface Flood {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: object
  readonly connections: number
  readonly ms: number
  /** Of the server: its memory is looked at. */
  readonly pid: number | undefined
}

export interface Flooded {
  /** How many answers had which status. */
  readonly statuses: Readonly<Record<string, number>>
  /** Instance and operation of each 202. */
  readonly accepted: readonly (readonly [id: string, operation: string])[]
  /** Refusals without a time. */
  readonly untimed: number
  /** Connections that the server closed. */
  readonly broken: number
  /** Milliseconds until a 202. */
  readonly p99: number
  /**
   * The slowest answer about health, in milliseconds; those that were none, or said that the process is not alive; and those
   * that said that it is not ready, which is true where the store takes longer than a second.
   */
  readonly health: { readonly slowest: number; readonly asked: number; readonly bad: number; readonly unready: number }
  /** The most memory that the server has had so far; undefined where the system does not tell. */
  readonly megabytes: number | undefined
}

/** More clients than a broker can serve, for some seconds, and what it answered them and those who ask how it is. */
export async function flood({ url, pid, body, headers, ...load }: Flood): Promise<Flooded> {
  const options = {
    ...load,
    port: Number(new URL(url).port),
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  }
  const child = fork(join(import.meta.dirname, 'flood.mjs'), [JSON.stringify(options)], { execArgv: [] })
  try {
    await once(child, 'message')
    const flooded = once(child, 'message')
    child.send('go')
    const over = new AbortController()
    const watched = watchHealth(url, over.signal)
    const [told] = await flooded
    over.abort()
    return { ...told, health: await watched, megabytes: await peakMegabytes(pid) }
  } finally {
    child.kill('SIGKILL')
  }
}

/** Over a new connection each time, as those who ask for health do. */
async function watchHealth(url: string, over: AbortSignal): Promise<Flooded['health']> {
  const health = { slowest: 0, asked: 0, bad: 0, unready: 0 }
  const ask = async (path: string) => {
    const from = performance.now()
    const { status } = await fetch(url + path, { headers: { connection: 'close' } }).catch(() => ({ status: 0 }))
    health.slowest = Math.max(health.slowest, performance.now() - from)
    health.asked += 1
    if (path === '/readyz' && status === 503) health.unready += 1
    else if (status !== 200) health.bad += 1
  }
  while (!over.aborted) {
    await Promise.all([ask('/healthz'), ask('/readyz')])
    await sleep(50)
  }
  return health
}

async function peakMegabytes(pid: number | undefined): Promise<number | undefined> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
  const kilobytes = /VmHWM:\s+(\d+)/.exec(status)?.[1]
  return kilobytes === undefined ? undefined : Number(kilobytes) / 1024
}

/** How each accepted operation ended: it is polled until it has. */
export async function endsOf(
  { url, headers }: Pick<Flood, 'url' | 'headers'>,
  accepted: Flooded['accepted'],
): Promise<Map<string, number>> {
  const ends = new Map<string, number>()
  const left = [...accepted]
  const pollNext = async () => {
    for (let next = left.pop(); next !== undefined; next = left.pop()) {
      const [id, operation] = next
      const path = `/v2/service_instances/${id}/last_operation?operation=${operation}`
      const answer = await fetch(url + path, { headers })
      const { state, description } = (await answer.json()) as { state?: string; description?: string }
      if (state === 'in progress') {
        left.unshift(next)
        await sleep(20)
        continue
      }
      // What is said about times differs.
      const end = [answer.status, state, description?.replace(/\d[\d.]* \w+/g, '…')].join(' ').trim()
      ends.set(end, (ends.get(end) ?? 0) + 1)
    }
  }
  await Promise.all(Array.from({ length: 32 }, pollNext))
  return ends
}

const brokerModule = `
import { setTimeout as sleep } from 'node:timers/promises'
import { defineBroker, defineService } from ${JSON.stringify(new URL('../dist/index.js', import.meta.url).href)}
export default defineBroker({ services: [defineService({
  id: 'service', name: 'service', description: 'Takes a tenth of a second', bindable: false,
  plans: [{ id: 'plan', name: 'plan', description: 'The plan' }],
  async provision(ctx) { await ctx.step('create', () => sleep(100)) },
  async deprovision() {},
})] })
`

/** 2,000 clients that never pause; 16 workers do 160 operations a second, at best. */
export async function benchOverload(): Promise<Result[]> {
  return inNewFolder(async folder => {
    await writeFile(join(folder, 'broker.mjs'), brokerModule)
    const config = { broker: 'broker.mjs', engine: { timeouts: { provision: '15s' } } }
    const server = await servePurser(folder, config)
    const headers = osbHeaders
    const body = { service_id: 'service', plan_id: 'plan', organization_guid: 'org', space_guid: 'space' }
    try {
      const flooded = await flood({ ...server, headers, body, connections: 2_000, ms: 10_000 })
      const ends = await endsOf({ url: server.url, headers }, flooded.accepted)
      const { statuses, health, p99, megabytes = Number.NaN } = flooded
      process.stderr.write(`${JSON.stringify({ statuses, health, p99, megabytes, ends: [...ends] })}\n`)
      const line = (name: string, unit: string, value: number, most: number) =>
        toResult(`overload, 2,000 connections: ${name}`, unit, [{ ours: value, baseline: most }], {
          text: `${most} at most`,
          met: () => value <= most,
        })
      const succeeded = ends.get('200 succeeded') ?? 0
      return [
        line('the slowest answer about health', 'ms', health.slowest, 1_000),
        line('p99 of the answers 202', 'ms', p99, 5_000),
        line('memory at its most', 'MB', megabytes, 512),
        line('refusals without a time, broken connections', '', flooded.untimed + flooded.broken, 0),
        line('accepted and not succeeded', '', flooded.accepted.length - succeeded, 0),
      ]
    } finally {
      await server.stop()
    }
  })
}
