import { type Clock, wallClock } from '../clock.ts'
import type { BrokerEvents, EventType } from '../events.ts'
import type { Observer } from '../observer.ts'
import { createEndTime } from './end-time.ts'
import type { LoggedValue } from './fields.ts'
import { encodings, formats, type LogFormat } from './formats.ts'
import { type AreaLevel, areaOf, createLogLevels, type LogArea, type LogLevels, ranks } from './levels.ts'
import { fieldsOf, type LineKind, lineKinds, textOf, type Values } from './line-kind.ts'
import { createLineWriter, type LogStream } from './line-writer.ts'
import { eventTypes, type LogLevel } from './lines.ts'

export type { LogFormat } from './formats.ts'
export type { AreaLevel, LogArea, LogLevels } from './levels.ts'
export type { LogStream } from './line-writer.ts'
export type { LogLevel } from './lines.ts'

export interface LogOptions {
  /** `json` unless told otherwise. */
  readonly format?: LogFormat
  /** The lowest level that gets a line: `info` unless told otherwise. */
  readonly level?: LogLevel
  /** Other levels for some areas, or `off`. */
  readonly areas?: Readonly<Partial<Record<LogArea, AreaLevel>>>
  /** Standard output unless told otherwise. Its errors are ignored: a broker outlives the reader of its log. */
  readonly stream?: LogStream
  readonly clock?: Clock
}

/** One line of the log, before it is formatted. */
export interface LogLine {
  readonly level: LogLevel
  readonly event: EventType
  readonly text: string
  readonly fields: Readonly<Record<string, LoggedValue>>
}

/** Writes one line for each event that deserves one, in JSON or for people. */
export function createLogObserver(options: LogOptions = {}): Observer {
  return createLog(options).observer
}

export interface Log {
  readonly observer: Observer
  /** What is worth a line, which can be changed while the log is written. */
  readonly levels: LogLevels
}

export function createLog({
  format = 'json',
  level = 'info',
  areas = {},
  stream = process.stdout,
  clock = wallClock,
}: LogOptions = {}): Log {
  // Code without types may say anything, and a log that is silent by mistake is found too late.
  if (!Object.hasOwn(formats, format))
    throw new TypeError(`the format of the log is "json" or "people", not "${format}"`)
  if (!Object.hasOwn(ranks, level))
    throw new TypeError(`the level of the log is "info", "warn" or "error", not "${level}"`)
  const write = createLineWriter(stream, encodings[format], clock)
  const levels = createLogLevels(level, areas)
  const observer = listen(levels, kind => {
    const toText = formats[format](kind)
    const timeOf = kind.event === 'request.ended' ? (createEndTime(clock) as (values: Values) => number) : clock.now
    return (found, values) => {
      const at = timeOf(values)
      const isUrgent = found !== 'info'
      // What authors log is theirs, and may change before it is written.
      if (isUrgent || values.fields !== undefined) write(toText(at, found, values), isUrgent)
      else write(() => toText(at, found, values), isUrgent)
    }
  })
  return { levels, observer }
}

/** What embedded and test brokers log unless told otherwise: warnings and errors, to standard error. */
export function logTrouble(): Observer {
  return createLogObserver({ format: 'people', level: 'warn', stream: process.stderr })
}

/** Listens to the events that make a line of this level or above. */
export function observeLines(lowest: LogLevel | LogLevels, write: (line: LogLine) => void): Observer {
  return listen(
    lowest,
    kind => (level, values) =>
      write({ level, event: kind.event, text: textOf(kind, values), fields: fieldsOf(kind, values) }),
  )
}

/** `createWriter` is asked once for each kind of line. Events that never make one, as long as levels stay, are not listened to. */
function listen(
  lowest: LogLevel | LogLevels,
  createWriter: (kind: LineKind) => (level: LogLevel, values: Values) => void,
): Observer {
  const levels = typeof lowest === 'string' ? undefined : lowest
  const listeners = lineKinds.flatMap(kind => {
    const { event, level } = kind
    const area = areaOf(event)
    const reaches = (found: LogLevel) => ranks[found] >= ranks[levels?.of(area) ?? (lowest as LogLevel)]
    if (levels === undefined && typeof level !== 'function' && !reaches(level)) return []
    const write = createWriter(kind)
    const onEvent = (values: Values) => {
      const found = typeof level === 'function' ? level(values) : level
      if (found !== undefined && reaches(found)) write(found, values)
    }
    return [[event, onEvent]]
  })
  return Object.fromEntries(listeners)
}

/** Listens to every event. */
export function observeAll(listen: (type: EventType, event: BrokerEvents[EventType]) => void): Observer {
  return Object.fromEntries(eventTypes.map(type => [type, (event: never) => listen(type, event)]))
}
