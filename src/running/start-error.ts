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
