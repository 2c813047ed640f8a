export type SqliteOpenFailure =
  | 'locked'
  | 'unusable-path'
  | 'not-a-database'
  | 'foreign-database'
  | 'newer-version'
  | 'full'
  | 'no-driver'

/** The store cannot be opened. Its message says what is in the way and what to do about it. */
export class SqliteOpenError extends Error {
  override readonly name = 'SqliteOpenError'
  readonly failure: SqliteOpenFailure

  constructor(failure: SqliteOpenFailure, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.failure = failure
  }
}
