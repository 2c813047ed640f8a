import { styleText } from 'node:util'
import type { Clock } from '../clock.ts'
import { type CliErrorParts, interrupted } from './cli-error.ts'

/** Everything a command touches outside itself, so that a test can run one in process. */
export interface CliIo {
  readonly stdin: NodeJS.ReadableStream & { readonly isTTY?: boolean }
  /** Data only. */
  readonly stdout: { write(text: string): unknown; readonly isTTY?: boolean; readonly rows?: number }
  /** Progress and errors. */
  readonly stderr: { write(text: string): unknown; readonly isTTY?: boolean; readonly columns?: number }
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
  readonly clock: Clock
  /** Calls back at Ctrl-C, until the returned function is called. */
  onInterrupt(callback: () => void): () => void
}

export function processIo(): CliIo {
  return {
    stdin: process.stdin,
    stdout: process.stdout,
    stderr: process.stderr,
    env: process.env,
    cwd: process.cwd(),
    clock: waitingClock,
    onInterrupt(callback) {
      process.once('SIGINT', callback)
      return () => process.removeListener('SIGINT', callback)
    },
  }
}

/** The machine's clock, with timers that keep the process alive: between two polls nothing else does. */
const waitingClock: Clock = {
  now: () => Date.now(),
  after(ms, callback) {
    const timer = setTimeout(callback, Math.min(ms, 2 ** 31 - 1))
    return () => clearTimeout(timer)
  },
}

/** Runs `work` with a signal that Ctrl-C aborts; work that fails after that has failed with `stopped`. */
export async function interruptible<Result>(
  io: CliIo,
  stopped: CliErrorParts,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const interrupt = new AbortController()
  const stopListening = io.onInterrupt(() => interrupt.abort(interrupted(stopped)))
  try {
    return await work(interrupt.signal)
  } catch (error) {
    throw interrupt.signal.aborted ? interrupt.signal.reason : error
  } finally {
    stopListening()
  }
}

/** A person watches: lines may be redrawn. */
export function isLive(io: CliIo): boolean {
  return io.stderr.isTTY === true && !isSet(io.env.CI) && io.env.TERM !== 'dumb'
}

/** Gives text a colour, or leaves it where nobody would see one. */
export type Paint = (format: 'bold' | 'dim' | 'red' | 'cyan', text: string) => string

export function createPaint(io: CliIo): Paint {
  const hasColor = isLive(io) && !isSet(io.env.NO_COLOR)
  return (format, text) => (hasColor ? styleText(format, text, { validateStream: false }) : text)
}

function isSet(value: string | undefined): boolean {
  return value !== undefined && value !== '' && value !== 'false'
}
