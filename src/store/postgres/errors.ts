export type PostgresOpenFailure =
  | 'no-driver'
  | 'bad-url'
  | 'bad-schema'
  | 'unreachable'
  | 'refused'
  | 'no-rights'
  | 'unsuitable-server'
  | 'foreign-schema'
  | 'newer-version'

/** The store cannot be opened. Its message says what is in the way and what to do about it, and holds no password. */
export class PostgresOpenError extends Error {
  override readonly name = 'PostgresOpenError'
  readonly failure: PostgresOpenFailure

  constructor(failure: PostgresOpenFailure, message: string) {
    super(message)
    this.failure = failure
  }
}
