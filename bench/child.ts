import { type ChildProcess, fork } from 'node:child_process'
import { join } from 'node:path'
import type { Writable } from 'node:stream'
import { cores as allCores, pin } from './pin.ts'

/** A server in a process of its own that says where it listens. */
export interface Child {
  readonly port: number
  readonly process: ChildProcess
  /** Asks and waits for the next message. */
  ask(question: unknown): Promise<unknown>
  stop(): Promise<void>
}

export interface ChildOptions {
  readonly env?: Readonly<Record<string, string>>
  readonly stdout?: number | Writable
  /** The server's own one unless told otherwise. With a database beside it, all that the machine has. */
  readonly cores?: string
}

export async function startChild(
  script: string,
  args: readonly string[],
  { env, stdout, cores = allCores.server }: ChildOptions = {},
): Promise<Child> {
  const child = fork(join(import.meta.dirname, 'servers', script), [...args], {
    stdio: ['ignore', stdout ?? 'inherit', 'inherit', 'ipc'],
    execArgv: [],
    env: { ...process.env, ...env },
  })
  const next = () =>
    new Promise<unknown>((resolve, reject) => {
      const onExit = (code: number | null) => reject(new Error(`${script} ended with ${code}`))
      child.once('exit', onExit)
      child.once('message', message => {
        child.off('exit', onExit)
        resolve(message)
      })
    })
  pin(child.pid, cores)
  const port = Number(await next())
  return {
    port,
    process: child,
    ask(question) {
      const answer = next()
      child.send(question as string)
      return answer
    },
    stop: () =>
      new Promise(resolve => {
        child.once('exit', () => resolve())
        child.kill('SIGKILL')
      }),
  }
}

/** Waits until a broker has ended so many operations since it was started. */
export async function untilFinished(broker: Child, count: number): Promise<void> {
  while (Number(await broker.ask('finished?')) < count) await new Promise(resolve => setTimeout(resolve, 5))
}

/**
 * Milliseconds of provisions before anything is measured. A broker runs for weeks; on its one core it takes many seconds until their
 * code, which is far more than that of the baselines, is compiled, and until then it has a third of its speed.
 */
export const warmUp = 12_000
