export type MongoOpenFailure =
  | 'no-driver'
  | 'bad-url'
  | 'bad-prefix'
  | 'refused'
  | 'not-a-replica-set'
  | 'foreign-collections'
  | 'newer-version'

/** The store cannot be opened. Its message says what is in the way and what to do about it. */
export class MongoOpenError extends Error {
  override readonly name = 'MongoOpenError'
  readonly failure: MongoOpenFailure

  constructor(failure: MongoOpenFailure, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.failure = failure
  }
}
