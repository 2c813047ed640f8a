import { type Clock, wallClock } from '../clock.ts'
import type { BrokerEvents, EventType, LogFields } from '../events.ts'
import type { Observer } from '../observer.ts'
import { traceIdOf } from '../tracer.ts'
import { type LoggedValue, toLoggedFields, toLoggedValue } from './fields.ts'
import { type AreaLevel, areaOf, createLogLevels, type LogArea, type LogLevels, ranks } from './levels.ts'
import { eventTypes, type LineOf, type LogLevel, lines } from './lines.ts'

export type { AreaLevel, LogArea, LogLevels } from './levels.ts'
export type { LogLevel } from './lines.ts'
export type LogFormat = 'json' | 'people'

/** Any stream of Node.js, or anything else that takes lines. */
export interface LogStream {
  write(line: string): unknown
  on?(event: 'error', listener: (error: Error) => void): unknown
}

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
  ignoreErrors(stream)
  const toText = formats[format]
  const write = createWriter(stream)
  const levels = createLogLevels(level, areas)
  return { levels, observer: observeLines(levels, line => write(toText(clock.now(), line), line.level !== 'info')) }
}

/** Collects lines until the event loop turns, since each write is a system call. What is urgent is written at once. */
function createWriter(stream: LogStream): (text: string, urgent: boolean) => void {
  let waiting = ''
  const flush = () => {
    const text = waiting
    waiting = ''
    try {
      if (text !== '') stream.write(text)
    } catch {
      // The lines are lost; the broker goes on.
    }
  }
  return (text, urgent) => {
    if (waiting === '' && !urgent) setImmediate(flush)
    waiting += text
    if (urgent) flush()
  }
}

/** What embedded and test brokers log unless told otherwise: warnings and errors, to standard error. */
export function logTrouble(): Observer {
  return createLogObserver({ format: 'people', level: 'warn', stream: process.stderr })
}

/** Listens to the events that make a line of this level or above. Those that never do, as long as levels stay, are not listened to. */
export function observeLines(lowest: LogLevel | LogLevels, write: (line: LogLine) => void): Observer {
  const levels = typeof lowest === 'string' ? undefined : lowest
  const listeners = eventTypes.flatMap(event => {
    const [level, text = '', ...fields] = lines[event] as LineOf<Record<string, unknown>>
    const area = areaOf(event)
    const reaches = (found: LogLevel) => ranks[found] >= ranks[levels?.of(area) ?? (lowest as LogLevel)]
    if (level === undefined || (levels === undefined && typeof level !== 'function' && !reaches(level))) return []
    const listen = (values: Record<string, unknown>) => {
      const found = typeof level === 'function' ? level(values) : level
      if (found === undefined || !reaches(found)) return
      const logged: Record<string, LoggedValue> = values.fields ? toLoggedFields(values.fields as LogFields) : {}
      for (const name of fields) {
        const value = values[name]
        if (name === 'traceparent') {
          const trace = traceIdOf(value as string | undefined)
          if (trace !== undefined) logged.trace = trace
        } else if (value !== undefined) logged[name] = toLoggedValue(value)
      }
      const message = typeof text === 'function' ? text(values) : text
      // An author's code may have any types.
      write({ level: found, event, text: String(message), fields: logged })
    }
    return [[event, listen]]
  })
  return Object.fromEntries(listeners)
}

/** Listens to every event. */
export function observeAll(listen: (type: EventType, event: BrokerEvents[EventType]) => void): Observer {
  return Object.fromEntries(eventTypes.map(type => [type, (event: never) => listen(type, event)]))
}

const withoutErrors = new WeakSet<LogStream>()

/** Once for a stream, however many observers write to it. */
function ignoreErrors(stream: LogStream): void {
  if (withoutErrors.has(stream)) return
  withoutErrors.add(stream)
  stream.on?.('error', () => {})
}

function formatAsJson(at: number, { level, event, text, fields }: LogLine): string {
  return `${JSON.stringify({ level, time: new Date(at).toISOString(), event, ...fields, msg: text })}\n`
}

/** One line for a terminal: time, level, text, `key=value`; a stack on lines of its own. Ends with a line break. */
function formatForPeople(at: number, { level, text, fields }: Omit<LogLine, 'event'>): string {
  const line = [new Date(at).toISOString(), level.toUpperCase().padEnd(5), escapeControls(text)]
  const stacks: string[] = []
  for (const [name, value] of Object.entries(fields)) {
    line.push(`${name}=${formatValue(value)}`)
    if (typeof value === 'object' && value.stack) stacks.push(value.stack)
  }
  return `${[line.join(' '), ...stacks].join('\n')}\n`
}

function formatValue(value: LoggedValue): string {
  if (typeof value !== 'object') return quote(String(value))
  const cause = value.cause === undefined ? '' : ` (because: ${value.cause})`
  return quote(`${value.code ?? value.name}: ${value.message}${cause}`)
}

/** Quoted where a reader could take it for more than one value; what a client sent cannot begin a line of its own. */
function quote(text: string): string {
  return /^[^\s"=\p{Cc}]+$/u.test(text) ? text : escapeControls(JSON.stringify(text))
}

function escapeControls(text: string): string {
  return text.replaceAll(/\p{Cc}/gu, character => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

const formats = { json: formatAsJson, people: formatForPeople }
