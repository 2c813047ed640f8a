import type { LoggedValue } from './fields.ts'
import type { LogLine } from './log.ts'

/** One line for a terminal: time, level, text, `key=value`; a stack on lines of its own. Ends with a line break. */
export function formatForPeople(at: number, { level, text, fields }: Omit<LogLine, 'event'>): string {
  const line = [new Date(at).toISOString(), level.toUpperCase().padEnd(5), escapeControls(text)]
  const stacks: string[] = []
  for (const [name, value] of Object.entries(fields)) {
    line.push(`${name}=${formatValue(value)}`)
    if (typeof value === 'object' && value.stack) stacks.push(value.stack)
  }
  return `${[line.join(' '), ...stacks].join('\n')}\n`
}

function formatValue(value: LoggedValue): string {
  if (typeof value !== 'object') return quote(String(value))
  const cause = value.cause === undefined ? '' : ` (because: ${value.cause})`
  return quote(`${value.code ?? value.name}: ${value.message}${cause}`)
}

/** Quoted where a reader could take it for more than one value; what a client sent cannot begin a line of its own. */
function quote(text: string): string {
  return /^[^\s"=\p{Cc}]+$/u.test(text) ? text : escapeControls(JSON.stringify(text))
}

function escapeControls(text: string): string {
  return text.replaceAll(/\p{Cc}/gu, character => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
