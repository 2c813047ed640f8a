export interface CliErrorParts {
  readonly what: string
  readonly why: string
  readonly next: string
}

/** An end without success, for a person: what, why, and the next step. */
export class CliError extends Error implements CliErrorParts {
  override readonly name = 'CliError'
  readonly what: string
  readonly why: string
  readonly next: string
  /** 1: the broker refused, failed or could not be reached. 2: wrong usage. */
  readonly exitCode: 1 | 2

  constructor(exitCode: 1 | 2, parts: CliErrorParts) {
    super(`${parts.what}: ${parts.why}`)
    this.exitCode = exitCode
    this.what = parts.what
    this.why = parts.why
    this.next = parts.next
  }
}

export const failure = (parts: CliErrorParts) => new CliError(1, parts)
export const wrongUsage = (parts: CliErrorParts) => new CliError(2, parts)
