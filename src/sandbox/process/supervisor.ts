/**
 * A program: `supervisor <folder of a sandbox>`. It watches one sandbox and outlives the broker. Whoever can connect to its
 * socket knows that it runs, and when the connection ends, it has ended. Its one line of output says that the sandbox has an
 * owner, this one or another: then its starter may go.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { closeSync, writeSync } from 'node:fs'
import { constants } from 'node:os'
import { join } from 'node:path'
import { sleep, systemClock } from '../../clock.ts'
import type { Stop } from '../../sandbox.ts'
import { syncFolder } from '../folders.ts'
import { claimFolder, readOwn } from '../owner.ts'
import { type Control, listenForBrokers } from './control.ts'
import { createLog, type Exit, type Job, marker, writeExit } from './job.ts'
import { childOf, killMarked, membersOf, memoryOf, signal } from './processes.ts'

const clock = systemClock
const graceAfterTime = 5_000
const lookEvery = 250

async function supervise(folder: string): Promise<void> {
  const text = await readOwn(join(folder, 'job.json'))
  // Removed meanwhile.
  if (text === undefined) return ready()
  const socket = `s-${randomBytes(4).toString('hex')}`
  const control = await listenForBrokers(join(folder, socket))
  if (!claimFolder(folder, socket)) {
    control.close()
    return ready()
  }
  await syncFolder(folder)
  ready()
  await writeExit(folder, await run(folder, JSON.parse(text), control))
  control.close()
}

async function run(folder: string, job: Job, control: Control): Promise<Exit> {
  const { limits, user } = job
  const [command = '', ...args] = job.command
  const log = createLog(folder)
  let stopped: Stop | undefined
  let printed = 0
  let ended = false
  let killed = false

  const child = spawn(command, args, {
    cwd: job.cwd,
    env: { ...job.env, [marker]: folder },
    stdio: ['ignore', 'pipe', 'pipe'],
    // A process group of its own: what is sent to it does not reach this process.
    detached: true,
    ...user,
  })
  const end = () => {
    if (ended) return
    killed = true
    kill(child, folder, job)
  }
  const stop = (why: Stop, graceMs: number) => {
    if (ended) return
    stopped ??= why
    if (graceMs > 0 && child.pid !== undefined) signal(-child.pid, 'SIGTERM')
    if (graceMs > 0) clock.after(graceMs, end)
    else end()
  }
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      printed += chunk.length
      log.write(chunk)
      if (limits.output !== undefined && printed > limits.output) stop('output', 0)
    })

  control.onCancel(graceMs => stop('cancelled', graceMs))
  process.on('SIGTERM', () => stop('cancelled', graceAfterTime))
  const endAt = clock.now() + limits.time
  const isCounted = limits.memory !== undefined || limits.processes !== undefined
  const watch = () => {
    if (ended) return
    const left = endAt - clock.now()
    if (left <= 0) return stop('time', graceAfterTime)
    const excess = isCounted ? findExcess(child, job) : undefined
    if (excess !== undefined) return stop(excess, 0)
    clock.after(Math.min(left, isCounted ? lookEvery : left), watch)
  }
  watch()

  const closed = Promise.all([child.stdout, child.stderr].map(stream => once(stream, 'close')))
  const code = await endOf(child, log)
  ended = true
  kill(child, folder, job)
  // What it printed last may still be in the pipes. The wait ends even if a process got away and keeps them open.
  await Promise.race([closed, sleep(clock, 2_000)])
  child.stdout.destroy()
  child.stderr.destroy()
  // The command that made the namespaces has other exit codes for a first process that was killed.
  return { code: killed ? 137 : code, stopped }
}

function findExcess({ pid }: ChildProcess, job: Job): Stop | undefined {
  if (pid === undefined) return undefined
  const { memory, processes } = job.limits
  const members = membersOf(pid)
  if (memory !== undefined && memoryOf(members) > memory) return 'memory'
  const own = members.length - (job.contained ? wrappers : 0)
  return processes !== undefined && own > processes ? 'processes' : undefined
}

/** Two of the processes of a contained sandbox are ours: the one that made the namespaces and the first one in them. */
const wrappers = 2

function kill({ pid }: ChildProcess, folder: string, { contained }: Job): void {
  if (pid === undefined) return
  // The kernel ends a namespace with its first process, and the command waits until that is done.
  const first = contained ? childOf(pid) : undefined
  signal(first ?? -pid, 'SIGKILL')
  if (!contained) killMarked(folder)
}

function endOf(child: ChildProcess, log: { write(chunk: Buffer): void }): Promise<number> {
  return new Promise(resolve => {
    child.once('error', error => {
      log.write(Buffer.from(`the sandbox could not be started: ${error.message}\n`))
      resolve(126)
    })
    child.once('exit', (code, name) => resolve(code ?? 128 + (name === null ? 0 : constants.signals[name])))
  })
}

function ready(): void {
  try {
    writeSync(1, 'ready\n')
    closeSync(1)
  } catch {
    // Whoever started it is gone; the sandbox goes on.
  }
}

await supervise(process.argv[2] ?? '')
