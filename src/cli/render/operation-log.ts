import type { RunLogBody } from '../../client/index.ts'
import { toLine } from './printable.ts'

/** Each run with what it printed, line by line as it was. */
export function renderLog(runs: readonly RunLogBody[]): string {
  return runs.map(run => `--- ${toLine(describe(run))}\n${renderText(run.log)}`).join('')
}

/** Text of many lines, safe for a terminal. */
export function renderText(text: string): string {
  const lines = text.split('\n')
  if (lines.at(-1) === '') lines.pop()
  return lines.map(line => `${line.replaceAll('\t', '        ').replace(unsafe, '')}\n`).join('')
}

// Control characters, and those that turn the direction of text around.
const unsafe = /[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu

function describe({ name, exit, verdict, message }: RunLogBody): string {
  const end = [...(verdict === undefined ? [] : [verdict]), ...(exit === undefined ? [] : [`exit code ${exit}`])]
  return [name, ...(end.length === 0 ? [] : [end.join(', ')]), ...(message === undefined ? [] : [message])].join(': ')
}
