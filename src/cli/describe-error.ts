import { renderError, renderListing } from './render/error-lines.ts'
import type { Style } from './render/style.ts'

/** What stderr says about an error, and the exit code it means. */
export interface DescribedError {
  readonly text: string
  readonly exitCode: 1 | 2
}

/** Recognizes errors by name and shape: importing their classes would load code that `purser --help` does not need. */
export function describeError(error: unknown, style: Style): DescribedError {
  if (!(error instanceof Error)) return describeDefect(String(error), '', style)
  if (hasParts(error)) {
    const why = 'where' in error ? `${error.why} (${error.where})` : error.why
    return { text: renderError({ what: error.what, why, next: error.next }, style), exitCode: exitCodeOf(error) }
  }
  if (mistakes.has(error.name)) return { text: renderListing(error.message, style), exitCode: 2 }
  if (obstacles.has(error.name)) return { text: renderListing(error.message, style), exitCode: obstacleCode(error) }
  return describeDefect(error.message, error.stack ?? '', style)
}

/** Mistakes of the user: exit code 2. */
const mistakes = new Set(['ConfigError', 'CatalogError', 'StartError', 'StoreUrlError'])
/** The command is right, but it cannot be done now: exit code 1. */
const obstacles = new Set(['ListenError', 'StoreOpenError', 'StoreUnavailableError'])
/** A store that cannot be opened because of a mistake in its settings: exit code 2. */
const badSettings = new Set<unknown>(['bad-url', 'bad-schema'])

function hasParts(error: Error): error is Error & { what: string; why: string; next: string } {
  return ['what', 'why', 'next'].every(part => part in error)
}

function exitCodeOf(error: Error): 1 | 2 {
  if ('exitCode' in error && (error.exitCode === 1 || error.exitCode === 2)) return error.exitCode
  return mistakes.has(error.name) ? 2 : 1
}

function obstacleCode(error: Error): 1 | 2 {
  return 'failure' in error && badSettings.has(error.failure) ? 2 : 1
}

function describeDefect(why: string, stack: string, style: Style): DescribedError {
  const text = renderError(
    {
      what: 'purser failed unexpectedly',
      why,
      next: 'Please report this as a defect, with the lines below.',
    },
    style,
  )
  return { text: `${text}${stack}\n`, exitCode: 1 }
}
