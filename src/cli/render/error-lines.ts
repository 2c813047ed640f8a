import type { CliErrorParts } from '../cli-error.ts'
import { toLine } from './printable.ts'
import type { Style } from './style.ts'

/** Three lines: what, why, next. */
export function renderError({ what, why, next }: CliErrorParts, style: Style): string {
  return [
    `${style.red('error:')} ${style.bold(toLine(what))}`,
    `${style.dim('  why:')} ${toLine(why)}`,
    `${style.dim(' next:')} ${toLine(next)}`,
    '',
  ].join('\n')
}

/** A message that brings its own lines, such as a list of mistakes. */
export function renderListing(message: string, style: Style): string {
  const lines = message.split('\n').map(line => `${/^ */.exec(line)?.[0] ?? ''}${toLine(line)}\n`)
  return `${style.red('error:')} ${lines.join('')}`
}
