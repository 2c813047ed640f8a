import type { ActionResult } from '../domain/outcome.ts'
import type { LogFields } from '../events.ts'
import { markedIn } from '../sensitive/marked.ts'
import { createRedactor } from '../sensitive/redact.ts'
import { type Redact, redactError, redactField } from '../sensitive/redact-error.ts'
import { secretsIn } from '../sensitive/secrets-in.ts'
import type { Sensitive } from '../sensitive/sensitive.ts'

/**
 * What the texts of one run must not show: what its service calls secret, what is marked so in what is kept, and every `Sensitive`
 * that its code has made. They are cut out of errors, descriptions and lines of the log by their value, wherever they stand.
 */
export class RunSecrets {
  #known: () => readonly string[]
  readonly #made = new Set<string>()

  /** Both are asked only where there is a text: what is kept changes while the run goes on. */
  constructor(given: () => readonly string[], kept: () => readonly unknown[]) {
    this.#known = () => [...given(), ...kept().flatMap(markedIn)]
  }

  add(made: Sensitive<unknown>): void {
    this.learn(secretsIn(made.reveal()))
  }

  learn(secrets: readonly string[]): void {
    for (const secret of secrets) this.#made.add(secret)
  }

  /** The run is over: what it worked with can go, its secrets stay for what its code may still say. */
  settle(): void {
    const known = this.#known()
    this.#known = () => known
  }

  #redactor(): Redact {
    const secrets = new Set([...this.#known(), ...this.#made])
    return secrets.size === 0 ? text => text : createRedactor([...secrets])
  }

  text(text: string): string {
    return this.#redactor()(text)
  }

  error(error: Error): Error {
    return redactError(error, this.#redactor())
  }

  fields(fields: LogFields | undefined): LogFields | undefined {
    if (fields === undefined) return undefined
    const redact = this.#redactor()
    return Object.fromEntries(
      Object.entries(fields).map(([name, value]) => [name, redactField(value, redact)]),
    ) as LogFields
  }

  /** What an action says in the end. */
  result(result: ActionResult): ActionResult {
    const { message, observed } = result
    if (message === undefined && observed?.message === undefined) return result
    // The credentials that it has just made are as secret as those of before.
    this.learn(secretsIn(result.binding?.credentials))
    const redact = this.#redactor()
    return {
      ...result,
      message: message && redact(message),
      observed: observed && { ...observed, message: observed.message && redact(observed.message) },
    }
  }
}
