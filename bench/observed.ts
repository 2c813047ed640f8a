import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Child, startChild } from './child.ts'
import { inNewFolder } from './new-folder.ts'
import { onLoadCore } from './pin.ts'
import { costOf, counts, type Kind, makePolled } from './request-cost.ts'
import { atMost, noGoal, type Result, type Round, toResult } from './result.ts'

const settings = {
  off: { metrics: { serve: 'off' }, traces: { mode: 'off' } },
  metrics: { metrics: { serve: 'open' }, traces: { mode: 'off' } },
  traces: { metrics: { serve: 'open' }, traces: { mode: 'linked' } },
}

/** Of an idle broker, in megabytes. */
const memoryGoal = 85

/**
 * Metrics, and traces through the API (what an SDK of the user's costs is its own), against a broker without them: the processor
 * time of one request, in turns on the same machine, and the memory of an idle one.
 */
export function benchObserved(rounds: number): Promise<Result[]> {
  return inNewFolder(folder => onLoadCore(() => measure(folder, rounds)))
}

async function measure(folder: string, rounds: number): Promise<Result[]> {
  const start = (which: keyof typeof settings) =>
    startChild('broker.mjs', [`sqlite:${join(folder, `${which}.db`)}`, '3', JSON.stringify(settings[which])])
  const [off, metrics, traces] = [await start('off'), await start('metrics'), await start('traces')]
  const lines: Record<Kind, [metrics: Round[], traces: Round[]]> = { poll: [[], []], provision: [[], []] }
  let made = 1
  try {
    const memory = memoryOf(metrics)
    for (const child of [off, metrics, traces]) await makePolled(child)
    for (let round = 0; round <= rounds; round++)
      for (const kind of ['provision', 'poll'] as const) {
        const order = round % 2 === 0 ? [off, metrics, traces] : [traces, metrics, off]
        const costs = new Map<Child, number>()
        for (const child of order) costs.set(child, await costOf(child, kind, made))
        if (kind === 'provision') made += counts.provision
        // The first round warms everything up.
        const baseline = costs.get(off) ?? Number.NaN
        if (round > 0)
          for (const [place, child] of [metrics, traces].entries())
            lines[kind][place]?.push({ ours: costs.get(child) ?? Number.NaN, baseline })
      }
    return [
      toResult('last_operation, with metrics against without', 'µs of CPU', lines.poll[0], atMost(1.05)),
      toResult('provisions to their end, with metrics against without', 'µs of CPU', lines.provision[0], atMost(1.05)),
      toResult('last_operation, with metrics and traces', 'µs of CPU', lines.poll[1], noGoal),
      toResult('provisions to their end, with metrics and traces', 'µs of CPU', lines.provision[1], noGoal),
      toResult(
        `memory of an idle broker with metrics, against ${memoryGoal} MB`,
        'MB',
        [{ ours: memory, baseline: memoryGoal }],
        atMost(1),
      ),
    ]
  } finally {
    await Promise.all([off, metrics, traces].map(child => child.stop()))
  }
}

function memoryOf({ process: { pid } }: Child): number {
  const [, kilobytes] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Number(kilobytes) / 1000
}
