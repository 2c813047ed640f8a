import type { LogFields } from '../observer.ts'

/** An error as a log shows it. The stack is there for errors nobody planned for only. */
export interface LoggedError {
  readonly name: string
  readonly code?: string
  readonly message: string
  readonly cause?: string
  readonly stack?: string
}

export type LoggedValue = string | number | boolean | LoggedError

/** The fields as they may be shown: names that promise a secret lose their value, whatever it is. */
export function toLoggedFields(fields: LogFields): Record<string, LoggedValue> {
  const logged: Record<string, LoggedValue> = {}
  for (const [name, value] of Object.entries(fields)) {
    if (value === undefined) continue
    if (isSecretName(name)) logged[name] = '[redacted]'
    else logged[name] = value instanceof Error ? toLoggedError(value) : value
  }
  return logged
}

/** Words that a secret's name contains, and one that it ends with: `state`, but not `statement`. */
export function isSecretName(name: string): boolean {
  return secretName.test(name.replaceAll(/[-_. ]/g, ''))
}

const secretName = /passw|secret|token|authori[sz]ation|credential|parameters?$|parameters|apikey|privatekey|state$/i

function toLoggedError(error: Error): LoggedError {
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined
  return {
    name: error.name,
    code,
    message: error.message,
    ...(error.cause instanceof Error ? { cause: error.cause.message } : {}),
    ...(isPlanned(error) || error.stack === undefined ? {} : { stack: withoutHead(error.stack) }),
  }
}

/** An error that says itself what to do needs no stack; those of the language and of the system do. */
function isPlanned(error: Error): boolean {
  return plannedNames.has(error.name)
}

const plannedNames: ReadonlySet<string> = new Set([
  'BrokerError',
  'CatalogError',
  'ConfigError',
  'ListenError',
  'StoreUnavailableError',
  'TerminalError',
])

/** The stack repeats the message, which may have several lines; only the frames are of use. */
function withoutHead(stack: string): string {
  const frames = stack.split('\n').filter(line => /^\s+at /.test(line))
  return frames.join('\n')
}
