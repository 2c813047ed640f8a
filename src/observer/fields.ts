import { fileURLToPath } from 'node:url'
import type { LogFields } from '../events.ts'
import { redacted, Sensitive } from '../sensitive/sensitive.ts'

/** An error as a log shows it. Errors whose message says it all have no stack. */
export interface LoggedError {
  readonly name: string
  readonly code?: string
  readonly message: string
  /** The messages of all causes, the nearest first. */
  readonly cause?: string
  /** Where it was made, and where its deepest cause was. */
  readonly stack?: string
}

export type LoggedValue = string | number | boolean | LoggedError

/** An author's fields as they are shown. Secrets were cut out where they were logged, and a `Sensitive` shows nothing. */
export function toLoggedFields(fields: LogFields): Record<string, LoggedValue> {
  const logged: Record<string, LoggedValue> = {}
  for (const [name, value] of Object.entries(fields)) if (value !== undefined) logged[name] = toShown(value)
  return logged
}

function toShown(value: LogFields[string]): LoggedValue {
  return typeof value === 'string' ? hideUsers(value) : toLoggedValue(value)
}

export function toLoggedValue(value: unknown): LoggedValue {
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return value
  if (value instanceof Sensitive) return redacted
  return value instanceof Error ? toLoggedError(value) : toText(value)
}

function toLoggedError(error: Error): LoggedError {
  const causes = causesOf(error)
  const deepest = causes.filter(cause => cause instanceof Error).at(-1)
  const stacks = [framesOf(error), deepest && `  deepest cause:\n${framesOf(deepest)}`]
  return {
    name: error.name,
    code: 'code' in error && typeof error.code === 'string' ? error.code : undefined,
    message: toMessage(error),
    cause: causes.map(cause => toText(cause)).join(', because ') || undefined,
    stack: plannedNames.has(error.name) ? undefined : stacks.filter(Boolean).join('\n') || undefined,
  }
}

function causesOf({ cause }: Error, depth = 10): readonly unknown[] {
  if (cause === undefined || cause === null || depth === 0) return []
  return [cause, ...(cause instanceof Error ? causesOf(cause, depth - 1) : [])]
}

/** The message, with those of the errors that it stands for (`AggregateError`). */
function toMessage(error: Error, depth = 3): string {
  const message = hideUsers(error.message)
  if (!('errors' in error && Array.isArray(error.errors)) || depth === 0) return message
  const shown = error.errors.slice(0, 5).map(one => toText(one, depth - 1))
  const more = error.errors.length - shown.length
  return `${message} [${shown.join('; ')}${more > 0 ? `; ${more} more` : ''}]`.trimStart()
}

/** Any value as a text that is not too long. */
function toText(value: unknown, depth = 3): string {
  if (value instanceof Error) return toMessage(value, depth)
  const text = hideUsers(typeof value === 'string' ? value : toJson(value))
  return text.length > longestText ? `${text.slice(0, longestText)}…` : text
}

const longestText = 2000

/** Drivers repeat the URL that they cannot connect to, with the user and the password in it. */
function hideUsers(text: string): string {
  return text.replaceAll(/\/\/[^/\s@]+@/g, '//[hidden]@')
}

function toJson(value: unknown): string {
  const replace = (_name: string, inner: unknown) =>
    inner instanceof Error || typeof inner === 'bigint' ? String(inner) : inner
  try {
    return JSON.stringify(value, replace) ?? String(value)
  } catch {
    return `[${typeof value} that cannot be written as JSON]`
  }
}

/** Errors whose message says what to do: they need no stack. */
const plannedNames: ReadonlySet<string> = new Set([
  'AbortError',
  'BrokerError',
  'CatalogError',
  'ConfigError',
  'ListenError',
  'RuntimeUnavailableError',
  'StoreUnavailableError',
])

/**
 * The stack without its head, which repeats the message. Of a TerminalError only the frames of the author's code, if there are
 * any: what the broker itself ends with one needs no stack.
 */
function framesOf({ name, stack = '' }: Error): string {
  const frames = stack.split('\n').filter(line => /^\s+at /.test(line))
  const shown =
    name === 'TerminalError' ? frames.filter(line => !line.includes(ownFolder) && !/\bnode:/.test(line)) : frames
  return shown.join('\n')
}

const ownFolder = fileURLToPath(new URL('..', import.meta.url))
