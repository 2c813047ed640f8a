import type { OperationFields } from '../events.ts'
import { type Observer, toError } from '../observer.ts'
import type { Sensitive } from '../sensitive/sensitive.ts'
import type { UnhandledListener } from './author-code.ts'
import { TerminalError } from './errors.ts'
import type { RunSecrets } from './run-secrets.ts'

/** What every event of a run begins with. */
export type RunFields = OperationFields & { readonly attempt: number }

/**
 * Hears of what nobody handles in the code of a run. It outlives the run where that code has opened a connection or set a
 * timer, and then it knows no more than which operation it was.
 */
export class RunLink implements UnhandledListener {
  readonly #fields: RunFields
  readonly #observer: Observer
  readonly #hide: RunSecrets
  /** Fails the run; absent once that is over. */
  fail: ((error: Error) => void) | undefined

  constructor(fields: RunFields, observer: Observer, hide: RunSecrets) {
    this.#fields = fields
    this.#observer = observer
    this.#hide = hide
  }

  onSensitive(made: Sensitive<unknown>): void {
    this.#hide.add(made)
  }

  onUnhandled(kind: 'rejection' | 'exception', thrown: unknown, step: string | undefined): void {
    const who = step === undefined ? `the ${this.#fields.action}` : `the step "${step}"`
    const error = this.#hide.error(toError(thrown, who))
    this.#observer['author.unhandled']?.({ ...this.#fields, step, kind, error })
    const message = `a promise that was not awaited was rejected: ${error.message}`
    this.fail?.(error instanceof TerminalError ? error : new Error(message, { cause: error }))
  }
}
