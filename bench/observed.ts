import { spawn } from 'node:child_process'
import { openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Child, startChild } from './child.ts'
import { costNames } from './request-cost.ts'
import { atMost, noGoal, type Result, type Round, toResult } from './result.ts'
import { compareVariants } from './variants.ts'

const none = { metrics: { serve: 'off' }, traces: { mode: 'off' } }
const everything = { metrics: { serve: 'open' }, traces: { mode: 'linked' } }
/** From nothing to everything; the log has a line for each request and each outcome. */
const brokers = {
  off: none,
  metrics: { ...none, metrics: everything.metrics },
  all: everything,
  file: everything,
  sdk: everything,
}
type Which = keyof typeof brokers

/** Of an idle broker, in megabytes. */
const memoryGoal = 85

/**
 * Metrics, traces through the API and a log of all requests, against a broker without them: the processor time of one request,
 * and the memory of an idle one. What a tracing SDK of the user's costs is its own, and shown apart.
 */
export async function benchObserved(rounds: number): Promise<Result[]> {
  const memory: Round[] = []
  const startAndWeigh = async (which: Which, folder: string) => {
    const child = await start(folder, which)
    if (which === 'metrics') memory.push({ ours: memoryOf(child), baseline: memoryGoal })
    return child
  }
  const names = Object.keys(brokers) as Which[]
  const lines = await compareVariants({ names, baseline: 'off', start: startAndWeigh }, rounds)
  const rows = (which: Which, about: string, goal = atMost(1.05)) =>
    costNames.map(([kind, what]) =>
      toResult(`${what}, ${about} against none of it`, 'µs of CPU', lines[kind][which], goal),
    )
  return [
    ...rows('metrics', 'with metrics'),
    ...rows('all', 'with metrics, traces and access log'),
    ...rows('file', 'with all of it and a file as the log', noGoal),
    ...rows('sdk', 'with all of it and a tracing SDK', noGoal),
    toResult(`memory of an idle broker with metrics, against ${memoryGoal} MB`, 'MB', memory, atMost(1)),
  ]
}

async function start(folder: string, which: Which): Promise<Child> {
  const args = [`sqlite:${join(folder, `${which}.db`)}`, '3', JSON.stringify(brokers[which])]
  if (which === 'off' || which === 'metrics') return startChild('broker.mjs', args)
  const env: Record<string, string> = { BENCH_LOG: 'on', ...(which === 'sdk' && { BENCH_TRACES: 'on' }) }
  if (which === 'file') return startChild('broker.mjs', args, { env, stdout: openSync(join(folder, 'log'), 'a') })
  // As under systemd and container engines. The reader is over when the broker is.
  const reader = spawn('cat', { stdio: ['pipe', 'ignore', 'inherit'] })
  const child = await startChild('broker.mjs', args, { env, stdout: reader.stdin })
  reader.stdin.destroy()
  return child
}

function memoryOf(child: Child): number {
  const [, kilobytes] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.process.pid}/status`, 'utf8')) ?? []
  return Number(kilobytes) / 1000
}
