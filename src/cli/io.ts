import type { Clock } from '../clock.ts'

/** Everything a command touches outside itself, so that a test can run one in process. */
export interface CliIo {
  readonly stdin: NodeJS.ReadableStream & { readonly isTTY?: boolean }
  /** Data only. */
  readonly stdout: { write(text: string): unknown }
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

/** A person watches: lines may be redrawn. */
export function isLive(io: CliIo): boolean {
  return io.stderr.isTTY === true && !isSet(io.env.CI) && io.env.TERM !== 'dumb'
}

export function hasColor(io: CliIo): boolean {
  return isLive(io) && !isSet(io.env.NO_COLOR)
}

function isSet(value: string | undefined): boolean {
  return value !== undefined && value !== '' && value !== 'false'
}
