import type { Clock } from '../clock.ts'

/** Any stream of Node.js, or anything else that takes lines. */
export interface LogStream {
  /** Lines in JSON are ASCII, for which `latin1` is enough. */
  write(line: string, encoding: 'latin1' | 'utf8'): unknown
  on?(event: 'error', listener: (error: Error) => void): unknown
}

export type LineEncoding = Parameters<LogStream['write']>[1]

/** Lines of a busy broker wait so long for each other, in milliseconds: a write to the system takes longer than a line. */
const patience = 50
/** More lines than this do not wait. A text beyond 128 KB is memory of its own, and takes twice as long to make and to write. */
const mostWaiting = 200

/** Most lines are put together when they are written: one after the other, they take half of the time. */
type Line = string | (() => string)

/**
 * What is urgent is written at once, with all that waits before it. So is, when the event loop turns, what comes after a while
 * without lines: only where there are many do they wait.
 */
export function createLineWriter(
  stream: LogStream,
  encoding: LineEncoding,
  clock: Clock,
): (line: Line, urgent: boolean) => void {
  ignoreErrors(stream)
  let waiting: Line[] = []
  let writtenAt = -Infinity
  let isDue = false
  const flush = () => {
    const lines = waiting
    waiting = []
    unwritten.delete(flush)
    try {
      if (lines.length > 0)
        stream.write(lines.map(line => (typeof line === 'string' ? line : line())).join(''), encoding)
    } catch {
      // The lines are lost; the broker goes on.
    }
  }
  const flushGathered = () => {
    isDue = false
    writtenAt = clock.now()
    flush()
  }
  return (line, urgent) => {
    if (waiting.length === 0 && !urgent) writeAtExit(flush)
    if (!isDue && !urgent) {
      isDue = true
      if (clock.now() - writtenAt > patience) setImmediate(flushGathered)
      else clock.after(patience, flushGathered)
    }
    waiting.push(line)
    if (urgent || waiting.length > mostWaiting) flush()
  }
}

const unwritten = new Set<() => void>()
let isWrittenAtExit = false

/** A process that is told to exit waits for no timer. */
function writeAtExit(flush: () => void): void {
  unwritten.add(flush)
  if (isWrittenAtExit) return
  isWrittenAtExit = true
  process.on('exit', () => {
    for (const each of unwritten) each()
  })
}

const withoutErrors = new WeakSet<LogStream>()

/** Once for a stream, however many observers write to it. */
function ignoreErrors(stream: LogStream): void {
  if (withoutErrors.has(stream)) return
  withoutErrors.add(stream)
  stream.on?.('error', () => {})
}
