import type { LoggedValue } from './fields.ts'
import { fieldsOf, type LineKind, shownValue, textOf, type Values } from './line-kind.ts'
import type { LineEncoding } from './line-writer.ts'
import type { LogLevel } from './lines.ts'
import { rememberFirst, rememberLatest } from './remember.ts'
import { createRequestFormat } from './request-format.ts'
import { mostRemembered, toAscii, toJson, toTime } from './texts.ts'

export type LogFormat = 'json' | 'people'

/** Writes an event of one kind as a line, with the line break at its end. */
export type LineFormat = (at: number, level: LogLevel, values: Values) => string

export const formats: { readonly [Format in LogFormat]: (kind: LineKind) => LineFormat } = {
  json: createJsonFormat,
  people: kind => (at, level, values) => formatForPeople(at, level, kind, values),
}

/** What is enough for a format. JSON is all ASCII, for which this one takes the shortest way to the stream. */
export const encodings: { readonly [Format in LogFormat]: LineEncoding } = { json: 'latin1', people: 'utf8' }

/** Put together by hand, in a third of the time of `JSON.stringify`: every request of a platform has a line. */
function createJsonFormat(kind: LineKind): LineFormat {
  const { event } = kind
  if (event === 'request.ended') return createRequestFormat() as LineFormat
  const fields = kind.fields.map(({ name, shownAs }) => ({ name, toPart: createJsonPart(name, shownAs) }))
  const createStart = (level: LogLevel) =>
    rememberLatest((at: number) => `{"level":"${level}","time":"${toTime(at)}","event":"${event}"`)
  const toStart = { info: createStart('info'), warn: createStart('warn'), error: createStart('error') }
  const toEnd = rememberLatest((text: string) => `,"msg":${toJson(text)}}\n`)
  return (at, level, values) => {
    // Authors may call their fields as they like, also as ours.
    if (values.fields !== undefined) {
      const shown = { level, time: toTime(at), event, ...fieldsOf(kind, values), msg: textOf(kind, values) }
      return `${toAscii(JSON.stringify(shown))}\n`
    }
    let line = toStart[level](at)
    for (const { name, toPart } of fields) {
      const value = values[name]
      if (value !== undefined) line += toPart(value)
    }
    return line + toEnd(textOf(kind, values))
  }
}

/** Fields that have the same few values in most lines. Ids and paths are others each time. */
const repeated: ReadonlySet<string> = new Set([
  'action',
  'address',
  'bytes',
  'durationMs',
  'method',
  'platform',
  'principal',
  'status',
])

function createJsonPart(name: string, shownAs: string): (value: unknown) => string {
  const toPart = (value: unknown) => {
    const shown = shownValue(name, value)
    return shown === undefined ? '' : `,"${shownAs}":${toJson(shown)}`
  }
  return repeated.has(name) ? rememberFirst(mostRemembered, toPart) : toPart
}

/** One line for a terminal: time, level, text, `key=value`; a stack on lines of its own. */
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
