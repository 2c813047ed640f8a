import { type Clock, systemClock } from '../clock.ts'
import type { LogFields, Observer } from '../observer.ts'
import { toLoggedFields } from './fields.ts'
import { formatForPeople } from './people.ts'

export type LogFormat = 'json' | 'people'
export type LogLevel = 'info' | 'warn' | 'error'

/** Any stream of Node.js, or anything else that takes lines. */
export interface LogStream {
  write(line: string): unknown
  on?(event: 'error', listener: (error: Error) => void): unknown
}

export interface LogOptions {
  readonly format: LogFormat
  /** The least that is worth a line. */
  readonly level: LogLevel
  /** Standard output unless told otherwise. Its errors are passed over: a broker outlives the reader of its log. */
  readonly stream?: LogStream
  readonly clock?: Clock
}

/** Writes one line for each event, in JSON or for people. Fields that are named like secrets print `[redacted]`. */
export function createLogObserver({
  format,
  level,
  stream = process.stdout,
  clock = systemClock,
}: LogOptions): Observer {
  passOverErrors(stream)
  const toLine = format === 'json' ? formatAsJson : formatForPeople
  const log = (label: LogLevel) => (message: string, fields?: LogFields) => {
    if (ranks[label] < ranks[level]) return
    const line = toLine(clock.now(), label, message, fields)
    try {
      stream.write(line)
    } catch {
      // The line is lost; what it told of goes on.
    }
  }
  return { info: log('info'), warn: log('warn'), error: log('error') }
}

const ranks: Readonly<Record<LogLevel, number>> = { info: 0, warn: 1, error: 2 }

const passedOver = new WeakSet<LogStream>()

/** Once for a stream, however many observers write to it. */
function passOverErrors(stream: LogStream): void {
  if (passedOver.has(stream)) return
  passedOver.add(stream)
  stream.on?.('error', () => {})
}

function formatAsJson(at: number, level: LogLevel, msg: string, fields: LogFields = {}): string {
  return `${JSON.stringify({ level, time: new Date(at).toISOString(), ...toLoggedFields(fields), msg })}\n`
}
