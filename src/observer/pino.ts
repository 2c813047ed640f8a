import { type DestinationStream, type Logger, pino } from 'pino'
import { type Clock, systemClock } from '../clock.ts'
import type { LogFields, Observer } from '../observer.ts'
import { toLoggedFields } from './fields.ts'
import { formatForPeople } from './people.ts'

export type LogFormat = 'json' | 'people'
export type LogLevel = 'info' | 'warn' | 'error'

export interface LogOptions {
  readonly format: LogFormat
  /** The least that is worth a line. */
  readonly level: LogLevel
  /** Standard output unless told otherwise. */
  readonly stream?: DestinationStream
  readonly clock?: Clock
}

/** Writes one line for each event, in JSON or for people. Fields that are named like secrets print `[redacted]`. */
export function createPinoObserver({
  format,
  level,
  stream = process.stdout,
  clock = systemClock,
}: LogOptions): Observer {
  const logger = pino(
    {
      level,
      base: null,
      timestamp: () => `,"time":"${new Date(clock.now()).toISOString()}"`,
      formatters: { level: label => ({ level: label }) },
    },
    stream,
  )
  const write =
    format === 'json'
      ? (label: LogLevel) => (message: string, fields?: LogFields) => logAsJson(logger, label, message, fields)
      : (label: LogLevel) => (message: string, fields?: LogFields) => {
          if (logger.isLevelEnabled(label)) stream.write(formatForPeople(clock.now(), label, message, fields))
        }
  return { info: write('info'), warn: write('warn'), error: write('error') }
}

function logAsJson(logger: Logger, label: LogLevel, message: string, fields: LogFields | undefined): void {
  if (!logger.isLevelEnabled(label)) return
  if (fields === undefined) logger[label](message)
  else logger[label](toLoggedFields(fields), message)
}
