import { CatalogError } from '../catalog/validate.ts'
import { ListenError } from '../http/node.ts'
import { ConfigError } from './config.ts'

/** Why a broker does not start: what, why, and what to do next. */
export class StartError extends Error {
  override readonly name = 'StartError'
  readonly what: string
  readonly why: string
  readonly next: string

  constructor(what: string, why: string, next: string, cause?: unknown) {
    super(`${what} ${why} ${next}`, cause === undefined ? undefined : { cause })
    this.what = what
    this.why = why
    this.next = next
  }
}

/** The reasons that a person can do something about, as what, why and next; everything else stays what it is. */
export function toStartError(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof StartError) return error
  const { message } = error
  if (error instanceof ConfigError)
    return new StartError('The configuration is not usable.', message, 'Correct it and start again.', error)
  if (error instanceof CatalogError)
    return new StartError('The catalog is not usable.', message, 'Correct it and start again.', error)
  if (error instanceof ListenError)
    return new StartError('The server can not listen.', message, 'Correct the address and start again.', error)
  if (error.name === 'SqliteOpenError' || error.name === 'StoreUrlError')
    return new StartError(
      'The store can not be opened.',
      message,
      'Correct that, or name another store with --store.',
      error,
    )
  return error
}
