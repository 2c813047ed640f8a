/** What stands where a secret was. */
export const redacted = '[redacted]'

/** `inspect.custom` of node:util, which would bring the types of Node.js into those of the package. */
const inspectCustom = Symbol.for('nodejs.util.inspect.custom')

/**
 * A value that nobody reads by accident: as a text, as JSON and in `console.log` it is `[redacted]`, whatever it is called and
 * wherever it stands. `reveal()` is the one way to it. In a step's output and in a state it comes back as it was given;
 * in credentials the platform gets what it holds.
 */
export class Sensitive<out T = string> {
  readonly #value: T

  constructor(value: T) {
    this.#value = value
    witness?.(this)
  }

  /** The value itself, for the call that needs it. */
  reveal(): T {
    return this.#value
  }

  toString(): string {
    return redacted
  }

  toJSON(): string {
    return redacted
  }

  [Symbol.toPrimitive](): string {
    return redacted
  }

  [inspectCustom](): string {
    return redacted
  }
}

/** `sensitive(password)`: see `Sensitive`. */
export function sensitive<T>(value: T): Sensitive<T> {
  return new Sensitive(value)
}

/** What was hidden, or a value that never was. */
export function revealed<T>(value: T | Sensitive<T>): T {
  return value instanceof Sensitive ? value.reveal() : value
}

let witness: ((made: Sensitive<unknown>) => void) | undefined

/** Tells of every one that is made from now on: whoever writes texts of the code that made it can cut it out of them. */
export function witnessSensitive(listener: (made: Sensitive<unknown>) => void): void {
  witness = listener
}
