import { limits } from '../domain/limits.ts'
import { TerminalError } from '../engine/errors.ts'
import { className, isFieldless, toJson } from '../engine/to-json.ts'
import type { Action } from '../protocol/actions.ts'
import { endpoint, volumeMount } from '../protocol/answers.ts'
import { isJsonObject, type JsonObject } from '../protocol/json.ts'
import { flag, text } from '../shape/fields.ts'
import { type FieldMistake, inCode } from '../shape/mistake.ts'
import { fromCode, showPath } from '../shape/place.ts'
import { read } from '../shape/read.ts'
import { field, list, object, optional, type Shape } from '../shape/shape.ts'
import { dashboardRule, isDashboard, notADashboard } from './check-dashboard.ts'

/**
 * What an author's action returned, as JSON, checked before anything is kept of it. Every mistake ends the operation at
 * once, since the action would return the same again.
 */
export function checkResult(action: Action, result: unknown): object {
  if (isFieldless(result)) throw new TerminalError(`The ${action} returned ${className(result)}, not an object.`)
  const reading = read(shapes[action], fromCode(result ?? {}))
  if (!reading.ok) throw wrongResult(action, reading.mistakes.map(explain).join('; '))
  const checked: Record<string, unknown> = {}
  for (const [key, value] of Object.entries(result ?? {})) {
    const isState = key === 'state' || key === 'instanceState'
    const bytes = isState ? limits.stateBytes : limits.bindingBytes
    // A state comes back to its author; the platform has to read credentials.
    const sensitive = isState ? 'marked' : key === 'credentials' ? 'revealed' : undefined
    checked[key] = toJson(value, { what: `The ${action} returned a wrong result`, path: key, bytes, sensitive })
  }
  return checked
}

export function wrongResult(action: Action, problems: string): TerminalError {
  return new TerminalError(`The ${action} returned a wrong result: ${problems}${problems.endsWith('?') ? '' : '.'}`)
}

/** Without the value, which may be secret. */
function explain({ kind, path, rule, type, problem, remedy }: FieldMistake): string {
  const name = showPath(path) || 'it'
  if (kind === 'rule') return rule
  if (kind === 'missing') return `${name} is missing`
  const found = rule === dashboardRule ? notADashboard(type) : inCode(type)
  return kind === 'wrong' ? `${name} must be ${inCode(rule)}, not ${found}` : `${name} ${problem}; ${remedy}`
}

const map = field<JsonObject, JsonObject>({ kind: 'other', rule: 'an object' }, value =>
  isJsonObject(value) ? value : undefined,
)
const url = text({ rule: dashboardRule, allows: isDashboard })
const date = field<Date | string, number>({ kind: 'other', rule: 'a date' }, value => toTime(value))
const anyText = text({ allows: /^/ })

const message = optional(
  text({
    rule: `a text of at most ${limits.descriptionLength} characters`,
    allows: value => value.length <= limits.descriptionLength,
  }),
)

const provision = object({
  message,
  state: optional(map),
  dashboardUrl: optional(url),
  metadata: optional(object({ labels: optional(map), attributes: optional(map) })),
})

const times = object(
  { expiresAt: optional(date), renewBefore: optional(date) },
  {
    rules: [
      ({ expiresAt = Number.POSITIVE_INFINITY, renewBefore = 0 }) =>
        renewBefore > expiresAt && { error: 'metadata.renewBefore must not be later than metadata.expiresAt' },
    ],
  },
)

const bind = object({
  message,
  credentials: optional(map),
  syslogDrainUrl: optional(text()),
  routeServiceUrl: optional(text()),
  volumeMounts: optional(list(volumeMount)),
  endpoints: optional(list(endpoint)),
  metadata: optional(times),
  state: optional(map),
  instanceState: optional(map),
})

const deprovision = object({ message })

const shapes: Readonly<Record<Action, Shape>> = {
  provision,
  update: provision,
  deprovision,
  bind,
  unbind: object({ message, instanceState: optional(map) }),
  observe: object({
    ready: flag(),
    degraded: optional(flag()),
    reason: optional(anyText),
    message: optional(anyText),
  }),
  sweep: deprovision,
}

function toTime(value: unknown): number | undefined {
  const time = typeof value === 'string' || value instanceof Date ? new Date(value).getTime() : Number.NaN
  return Number.isNaN(time) ? undefined : time
}
