import type { LogFields } from '../events.ts'

/** An error as a log shows it. Only errors that nobody planned for have a stack. */
export interface LoggedError {
  readonly name: string
  readonly code?: string
  readonly message: string
  /** The messages of all causes, the nearest first. */
  readonly cause?: string
  readonly stack?: string
}

export type LoggedValue = string | number | boolean | LoggedError

/** An author's fields as they may be shown: a field whose name sounds like a secret loses its value. */
export function toLoggedFields(fields: LogFields): Record<string, LoggedValue> {
  const logged: Record<string, LoggedValue> = {}
  for (const [name, value] of Object.entries(fields))
    if (value !== undefined) logged[name] = isSecretName(name) ? '[redacted]' : toLoggedValue(value)
  return logged
}

export function toLoggedValue(value: LoggedValue | Error): LoggedValue {
  return value instanceof Error ? toLoggedError(value) : value
}

/** Words that a secret's name contains, and one that it ends with: `state`, but not `statement`. */
export function isSecretName(name: string): boolean {
  return secretName.test(name.replaceAll(/[-_. ]/g, ''))
}

const secretName = /passw|secret|token|authori[sz]ation|credential|parameters?$|parameters|apikey|privatekey|state$/i

function toLoggedError(error: Error): LoggedError {
  return {
    name: error.name,
    code: 'code' in error && typeof error.code === 'string' ? error.code : undefined,
    message: error.message,
    cause: causesOf(error).join(', because ') || undefined,
    stack: plannedNames.has(error.name) || error.stack === undefined ? undefined : framesOf(error.stack),
  }
}

function causesOf(error: Error, depth = 10): readonly string[] {
  if (!(error.cause instanceof Error) || depth === 0) return []
  return [error.cause.message, ...causesOf(error.cause, depth - 1)]
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
  'TerminalError',
])

/** The stack without its head, which repeats the message. */
function framesOf(stack: string): string {
  return stack
    .split('\n')
    .filter(line => /^\s+at /.test(line))
    .join('\n')
}
