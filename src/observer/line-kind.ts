import type { EventType, LogFields } from '../events.ts'
import { traceIdOf } from '../tracer.ts'
import { type LoggedValue, toLoggedFields, toLoggedValue } from './fields.ts'
import { eventTypes, type LineOf, type LogLevel, lines } from './lines.ts'

/** What all lines about one type of event have in common. */
export interface LineKind {
  readonly event: EventType
  readonly level: LogLevel | ((values: Values) => LogLevel | undefined)
  readonly text: string | ((values: Values) => string)
  readonly fields: readonly Field[]
}

interface Field {
  /** In the event. */
  readonly name: string
  readonly shownAs: string
}

export type Values = Readonly<Record<string, unknown>>

/** Of a trace context, which is long, the trace is shown. */
const traceparent = 'traceparent'

/** Of all types of events that may get a line. */
export const lineKinds: readonly LineKind[] = eventTypes.flatMap(event => {
  const [level, text = '', ...names] = lines[event] as LineOf<Values>
  return level === undefined ? [] : [{ event, level, text, fields: names.map(toField) }]
})

function toField(name: string): Field {
  return { name, shownAs: name === traceparent ? 'trace' : name }
}

/** An author's code may have any types. */
export function textOf({ text }: LineKind, values: Values): string {
  return String(typeof text === 'function' ? text(values) : text)
}

export function fieldsOf({ fields }: LineKind, values: Values): Readonly<Record<string, LoggedValue>> {
  const logged: Record<string, LoggedValue> = values.fields ? toLoggedFields(values.fields as LogFields) : {}
  for (const { name, shownAs } of fields) {
    const value = shownValue(name, values[name])
    if (value !== undefined) logged[shownAs] = value
  }
  return logged
}

/** Undefined where there is nothing to show. */
export function shownValue(name: string, value: unknown): LoggedValue | undefined {
  if (value === undefined) return undefined
  return name === traceparent ? traceIdOf(value as string) : toLoggedValue(value)
}
