import { type Clock, wallClock } from '../clock.ts'
import type { BrokerEvents, EventType, LogFields } from '../events.ts'
import type { Observer } from '../observer.ts'
import { traceIdOf } from '../tracer.ts'
import { type LoggedValue, toLoggedFields, toLoggedValue } from './fields.ts'
import { type AreaLevel, areaOf, createLogLevels, type LogArea, type LogLevels, ranks } from './levels.ts'
import { createLineWriter, type LogStream } from './line-writer.ts'
import { eventTypes, type LineOf, type LogLevel, lines } from './lines.ts'

export type { AreaLevel, LogArea, LogLevels } from './levels.ts'
export type { LogStream } from './line-writer.ts'
export type { LogLevel } from './lines.ts'
export type LogFormat = 'json' | 'people'

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
  const toText = formats[format]
  const write = createLineWriter(stream, clock)
  const levels = createLogLevels(level, areas)
  const observer = listen(levels, (found, kind, values) => {
    const at = clock.now()
    const isUrgent = found !== 'info'
    // What authors log is theirs, and may change before it is written.
    if (isUrgent || values.fields !== undefined) write(toText(at, found, kind, values), isUrgent)
    else write(() => toText(at, found, kind, values), isUrgent)
  })
  return { levels, observer }
}

/** What embedded and test brokers log unless told otherwise: warnings and errors, to standard error. */
export function logTrouble(): Observer {
  return createLogObserver({ format: 'people', level: 'warn', stream: process.stderr })
}

/** What all lines about one type of event have in common. */
interface LineKind {
  readonly event: EventType
  readonly text: string | ((values: Values) => string)
  readonly fields: readonly Field[]
}

interface Field {
  /** In the event. */
  readonly name: string
  readonly shownAs: string
  /** How it begins in JSON. */
  readonly json: string
}

type Values = Readonly<Record<string, unknown>>

/** Listens to the events that make a line of this level or above. */
export function observeLines(lowest: LogLevel | LogLevels, write: (line: LogLine) => void): Observer {
  return listen(lowest, (level, kind, values) =>
    write({ level, event: kind.event, text: textOf(kind, values), fields: fieldsOf(kind, values) }),
  )
}

/** Events that never make a line, as long as levels stay, are not listened to. */
function listen(
  lowest: LogLevel | LogLevels,
  write: (level: LogLevel, kind: LineKind, values: Values) => void,
): Observer {
  const levels = typeof lowest === 'string' ? undefined : lowest
  const listeners = eventTypes.flatMap(event => {
    const [level, text = '', ...fields] = lines[event] as LineOf<Values>
    const area = areaOf(event)
    const kind = { event, text, fields: fields.map(toField) }
    const reaches = (found: LogLevel) => ranks[found] >= ranks[levels?.of(area) ?? (lowest as LogLevel)]
    if (level === undefined || (levels === undefined && typeof level !== 'function' && !reaches(level))) return []
    const onEvent = (values: Values) => {
      const found = typeof level === 'function' ? level(values) : level
      if (found !== undefined && reaches(found)) write(found, kind, values)
    }
    return [[event, onEvent]]
  })
  return Object.fromEntries(listeners)
}

/** An author's code may have any types. */
function textOf({ text }: LineKind, values: Values): string {
  return String(typeof text === 'function' ? text(values) : text)
}

function fieldsOf({ fields }: LineKind, values: Values): LogLine['fields'] {
  const logged: Record<string, LoggedValue> = values.fields ? toLoggedFields(values.fields as LogFields) : {}
  for (const field of fields) {
    const value = shownValue(field, values)
    if (value !== undefined) logged[field.shownAs] = value
  }
  return logged
}

/** Of a trace context, which is long, the trace is shown. */
const traceparent = 'traceparent'

function toField(name: string): Field {
  const shownAs = name === traceparent ? 'trace' : name
  return { name, shownAs, json: `,"${shownAs}":` }
}

/** Undefined where there is nothing to show. */
function shownValue({ name }: Field, values: Values): LoggedValue | undefined {
  const value = values[name]
  if (value === undefined) return undefined
  return name === traceparent ? traceIdOf(value as string) : toLoggedValue(value)
}

/** Listens to every event. */
export function observeAll(listen: (type: EventType, event: BrokerEvents[EventType]) => void): Observer {
  return Object.fromEntries(eventTypes.map(type => [type, (event: never) => listen(type, event)]))
}

/** Put together by hand, in a third of the time of `JSON.stringify`: every request of a platform has a line. */
function formatAsJson(at: number, level: LogLevel, kind: LineKind, values: Values): string {
  const time = toTime(at)
  const { event } = kind
  // Authors may call their fields as they like, also as ours.
  if (values.fields !== undefined)
    return `${JSON.stringify({ level, time, event, ...fieldsOf(kind, values), msg: textOf(kind, values) })}\n`
  let line = `{"level":"${level}","time":"${time}","event":"${event}"`
  for (const field of kind.fields) {
    const value = shownValue(field, values)
    if (value !== undefined) line += field.json + toJson(value)
  }
  return `${line},"msg":${toJson(textOf(kind, values))}}\n`
}

function toJson(value: LoggedValue): string {
  if (typeof value === 'string' && plain.test(value)) return `"${value}"`
  return Number.isSafeInteger(value) ? `${value}` : JSON.stringify(value)
}

/** What JSON writes as it is. */
const plain = /^[ !#-[\]-~]*$/

const latest = { at: Number.NaN, time: '' }

/** In ISO 8601. Many lines of a busy broker have the same time. */
function toTime(at: number): string {
  if (at !== latest.at) {
    latest.time = new Date(at).toISOString()
    latest.at = at
  }
  return latest.time
}

/** One line for a terminal: time, level, text, `key=value`; a stack on lines of its own. Ends with a line break. */
function formatForPeople(at: number, level: LogLevel, kind: LineKind, values: Values): string {
  const line = [toTime(at), level.toUpperCase().padEnd(5), escapeControls(textOf(kind, values))]
  const stacks: string[] = []
  for (const [name, value] of Object.entries(fieldsOf(kind, values))) {
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
