export interface CliErrorParts {
  readonly what: string
  readonly why: string
  readonly next: string
}

/**
 * 1: the broker refused, failed or could not be reached. 2: wrong usage. 3: a person said no, or the time was over. 4: the
 * credentials are missing or not enough. 5: what was waited for has failed, or what was verified is not as it was. 6: some of many failed. 130: Ctrl-C, as shells have it.
 */
export const exitCodes = [1, 2, 3, 4, 5, 6, 130] as const
export type ExitCode = (typeof exitCodes)[number]

/** An end without success, for a person: what, why, and the next step. */
export class CliError extends Error implements CliErrorParts {
  override readonly name = 'CliError'
  readonly what: string
  readonly why: string
  readonly next: string
  readonly exitCode: ExitCode
  /** What else the JSON of `--output json` says: ids, or the results there are. */
  readonly about: object

  constructor(exitCode: ExitCode, parts: CliErrorParts, about: object = {}) {
    super(`${parts.what}: ${parts.why}`)
    this.exitCode = exitCode
    this.about = about
    this.what = parts.what
    this.why = parts.why
    this.next = parts.next
  }
}

export const failure = (parts: CliErrorParts, about?: object) => new CliError(1, parts, about)
export const wrongUsage = (parts: CliErrorParts) => new CliError(2, parts)
export const declined = (parts: CliErrorParts) => new CliError(3, parts)
export const failedInPart = (parts: CliErrorParts, about?: object) => new CliError(6, parts, about)
export const interrupted = (parts: CliErrorParts, about?: object) => new CliError(130, parts, about)
