import { openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Child, startChild } from './child.ts'
import { inNewFolder } from './new-folder.ts'
import { onLoadCore } from './pin.ts'
import { costOf, counts, type Kind, makePolled } from './request-cost.ts'
import { atMost, noGoal, type Result, type Round, toResult } from './result.ts'

/** From nothing to everything; the log has a line for each request and each outcome. */
const brokers = {
  off: { metrics: { serve: 'off' }, traces: { mode: 'off' } },
  metrics: { metrics: { serve: 'open' }, traces: { mode: 'off' } },
  all: { metrics: { serve: 'open' }, traces: { mode: 'linked' } },
  sdk: { metrics: { serve: 'open' }, traces: { mode: 'linked' } },
}
type Which = keyof typeof brokers

/** Of an idle broker, in megabytes. */
const memoryGoal = 85

/**
 * Metrics, traces through the API and a log of all requests, against a broker without them: the processor time of one request,
 * in turns on the same machine, and the memory of an idle one. What a tracing SDK of the user's costs is its own, and shown apart.
 */
export function benchObserved(rounds: number): Promise<Result[]> {
  return inNewFolder(folder => onLoadCore(() => measure(folder, rounds)))
}

async function measure(folder: string, rounds: number): Promise<Result[]> {
  const children = new Map<Which, Child>()
  const lines: Record<Kind, Record<Which, Round[]>> = { poll: noRounds(), provision: noRounds() }
  let made = 1
  try {
    for (const which of Object.keys(brokers) as Which[]) children.set(which, await start(folder, which))
    const memory = memoryOf(children.get('metrics'))
    for (const child of children.values()) await makePolled(child)
    for (let round = 0; round <= rounds; round++)
      for (const kind of ['provision', 'poll'] as const) {
        const order = round % 2 === 0 ? [...children] : [...children].reverse()
        const costs = new Map<Which, number>()
        for (const [which, child] of order) costs.set(which, await costOf(child, kind, made))
        if (kind === 'provision') made += counts.provision
        // The first round warms everything up.
        const baseline = costs.get('off') ?? Number.NaN
        if (round > 0) for (const [which, ours] of costs) lines[kind][which].push({ ours, baseline })
      }
    const row = (kind: Kind, which: Which, about: string, goal = atMost(1.05)) => {
      const what = kind === 'poll' ? 'last_operation' : 'provisions to their end'
      return toResult(`${what}, ${about} against none of it`, 'µs of CPU', lines[kind][which], goal)
    }
    return [
      row('poll', 'metrics', 'with metrics'),
      row('provision', 'metrics', 'with metrics'),
      row('poll', 'all', 'with metrics, traces and access log'),
      row('provision', 'all', 'with metrics, traces and access log'),
      row('poll', 'sdk', 'with all of it and a tracing SDK', noGoal),
      row('provision', 'sdk', 'with all of it and a tracing SDK', noGoal),
      toResult(
        `memory of an idle broker with metrics, against ${memoryGoal} MB`,
        'MB',
        [{ ours: memory, baseline: memoryGoal }],
        atMost(1),
      ),
    ]
  } finally {
    await Promise.all([...children.values()].map(child => child.stop()))
  }
}

const noRounds = (): Record<Which, Round[]> => ({ off: [], metrics: [], all: [], sdk: [] })

function start(folder: string, which: Which): Promise<Child> {
  const file = (type: string) => join(folder, `${which}.${type}`)
  const args = [`sqlite:${file('db')}`, '3', JSON.stringify(brokers[which])]
  if (which === 'off' || which === 'metrics') return startChild('broker.mjs', args)
  // As under a supervisor that keeps what a broker prints in a file.
  const env: Record<string, string> = { BENCH_LOG: 'on', ...(which === 'sdk' && { BENCH_TRACES: 'on' }) }
  return startChild('broker.mjs', args, { env, stdout: openSync(file('log'), 'a') })
}

function memoryOf(child: Child | undefined): number {
  const [, kilobytes] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child?.process.pid}/status`, 'utf8')) ?? []
  return Number(kilobytes) / 1000
}
