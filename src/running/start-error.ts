/** Why a broker does not start: what, why, and what to do next. */
export class StartError extends Error {
  override readonly name: string = 'StartError'
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

/** Another process lives under the name of this one. Nothing is wrong with the settings as such: exit code 1, not 2. */
export class NameInUseError extends StartError {
  override readonly name = 'NameInUseError'
  readonly exitCode = 1
}
