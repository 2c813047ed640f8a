import { type CliErrorParts, type ExitCode, exitCodes } from './cli-error.ts'
import type { Paint } from './io.ts'
import { toIndentedLine, toLine } from './render/printable.ts'

interface DescribedError {
  /** For stderr. */
  readonly text: string
  /** For stdout, where `--output json` asks for it. */
  readonly body: object
  readonly exitCode: ExitCode
}

/**
 * What is said about an error, and the exit code it means. Recognizes errors by name and shape: importing their classes
 * would load code that `purser --help` does not need.
 */
export function describeError(error: unknown, paint: Paint): DescribedError {
  if (!(error instanceof Error)) return describeDefect(String(error), '', paint)
  const exitCode = exitCodeOf(error)
  const about = 'about' in error ? error.about : {}
  if (hasParts(error)) {
    const why = 'where' in error ? `${error.why} (${error.where})` : error.why
    const { what, next } = error
    return {
      text: renderParts({ what, why, next }, paint),
      body: { error: what, why, next, ...Object(about) },
      exitCode,
    }
  }
  if (mistakes.has(error.name) || obstacles.has(error.name))
    return { text: renderListing(error.message, paint), body: { error: error.message, ...Object(about) }, exitCode }
  return describeDefect(error.message, error.stack ?? '', paint)
}

/** Mistakes of the user: exit code 2. */
const mistakes = new Set(['ConfigError', 'CatalogError', 'StartError', 'StoreUrlError'])
/** The command is right, but it cannot be done now: exit code 1. */
const obstacles = new Set(['ListenError', 'StoreOpenError', 'StoreUnavailableError', 'ImportError'])
/** A store that cannot be opened because of a mistake in its settings: exit code 2. */
const badSettings = new Set<unknown>(['bad-url', 'bad-schema'])

function hasParts(error: Error): error is Error & CliErrorParts {
  return ['what', 'why', 'next'].every(part => part in error)
}

function exitCodeOf(error: Error): ExitCode {
  const given = 'exitCode' in error ? error.exitCode : undefined
  const known = exitCodes.find(code => code === given)
  if (known !== undefined) return known
  if ('failure' in error && badSettings.has(error.failure)) return 2
  return mistakes.has(error.name) ? 2 : 1
}

function describeDefect(why: string, stack: string, paint: Paint): DescribedError {
  const what = 'purser failed unexpectedly'
  const next = 'Please report this as a defect, with the lines below.'
  const text = `${renderParts({ what, why, next }, paint)}${stack}\n`
  return {
    text,
    body: { error: what, why, next: 'Please report this as a defect, with what stderr says.' },
    exitCode: 1,
  }
}

function renderParts({ what, why, next }: CliErrorParts, paint: Paint): string {
  return [
    `${paint('red', 'error:')} ${paint('bold', toLine(what))}`,
    `${paint('dim', '  why:')} ${toLine(why)}`,
    `${paint('dim', ' next:')} ${toLine(next)}`,
    '',
  ].join('\n')
}

/** A message that brings its own lines, such as a list of mistakes. */
function renderListing(message: string, paint: Paint): string {
  const lines = message.split('\n').map(line => `${toIndentedLine(line)}\n`)
  return `${paint('red', 'error:')} ${lines.join('')}`
}
