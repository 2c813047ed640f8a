import { limits } from '../domain/limits.ts'
import type { OperationError } from '../domain/operation.ts'

export interface TerminalErrorOptions {
  /**
   * 400 to 499: how a synchronous request is answered, if nothing had been done yet. Once a step has run, something may
   * have to be cleaned up and the platform must know: then the answer is a 500.
   */
  readonly status?: number
  /** Failed update or deprovision: `false` says that the instance is broken. */
  readonly instanceUsable?: boolean
  /** Failed update: `false` says that the same update can never succeed. */
  readonly updateRepeatable?: boolean
  readonly cause?: unknown
}

/** Stop at once: retrying cannot help. The message is shown to the platform's user, so it holds no secret. */
export class TerminalError extends Error {
  override readonly name = 'TerminalError'
  readonly options: TerminalErrorOptions

  constructor(message: string, options: TerminalErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.options = options
  }
}

/** It has failed as often as it may. Unlike what another TerminalError says, it may succeed when somebody has helped. */
export class ExhaustedError extends TerminalError {}

/** It may pass: try again. The message is shown to the platform's user meanwhile; what only the log may have is the cause. */
export class PassingError extends Error {
  override readonly name = 'PassingError'
}

/** Ends a run whose outcome is already decided. It stays inside the engine: no author's code sees it. */
export class RunEnded extends Error {
  override readonly name = 'RunEnded'
}

/** Why a signal was aborted. Its name is the one that `fetch` and other code look for. */
export class AbortedError extends Error {
  override readonly name = 'AbortError'
}

/** 4xx answers that pass by themselves; every other 4xx will be the same next time. */
const passing = new Set([408, 409, 425, 429])

/** Whether an error of a call means that retrying cannot help: TerminalError, or an HTTP client's lasting 4xx. */
export function isPermanent(error: unknown): boolean {
  if (error instanceof TerminalError) return true
  const status = statusOf(error)
  return status !== undefined && status >= 400 && status < 500 && !passing.has(status)
}

/** What a backend asked to wait, if the error carries it: `retryAfter` in seconds, as HTTP has it. */
export function retryAfter(error: unknown): number {
  if (typeof error !== 'object' || error === null || !('retryAfter' in error)) return 0
  const seconds = Number(error.retryAfter)
  return Number.isFinite(seconds) && seconds > 0 ? seconds * 1000 : 0
}

/** What the ledger keeps of a final error: an author's own words are for the platform's user, and `otherwise` where there are none. */
export function toOperationError(error: unknown, otherwise: string, nothingDone: boolean): OperationError {
  if (!(error instanceof TerminalError)) return { message: otherwise }
  const { status, instanceUsable, updateRepeatable } = error.options
  return {
    message: shorten(error.message) || otherwise,
    status: nothingDone ? status : undefined,
    instanceUsable,
    updateRepeatable,
  }
}

/** Cut to what platforms accept as a description, and not inside a character. */
export function shorten(text: string): string {
  if (text.length <= limits.descriptionLength) return text
  return `${text.slice(0, limits.descriptionLength - 1).replace(/[\ud800-\udbff]$/, '')}…`
}

export function statusOf(error: unknown): number | undefined {
  if (typeof error !== 'object' || error === null) return undefined
  const status = 'status' in error ? error.status : 'statusCode' in error ? error.statusCode : undefined
  return typeof status === 'number' ? status : undefined
}
