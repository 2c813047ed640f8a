/** What the code reports about itself. The default says nothing. Fields never hold parameters, state or credentials. */
export interface Observer {
  info(message: string, fields?: LogFields): void
  warn(message: string, fields?: LogFields): void
  error(message: string, fields?: LogFields): void
}

export type LogFields = Readonly<Record<string, string | number | boolean | Error | undefined>>

export const silent: Observer = { info() {}, warn() {}, error() {} }
