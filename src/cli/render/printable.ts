/** Text from a broker, safe for a terminal: one line, no control characters. */
export function toLine(text: string): string {
  return text.replace(controls, ' ').replace(/ {2,}/g, ' ').trim()
}

/** As toLine, with the spaces that it begins with. */
export function toIndentedLine(text: string): string {
  return `${/^ */.exec(text)?.[0] ?? ''}${toLine(text)}`
}

/** Text of many lines, safe for a terminal; they stay as they were. */
export function toLines(text: string): string {
  const lines = text.split('\n')
  if (lines.at(-1) === '') lines.pop()
  return lines.map(line => `${line.replaceAll('\t', '        ').replace(controls, '')}\n`).join('')
}

/** A value that a person may copy: as it is where that is safe, else quoted and escaped as JSON. */
export function toValue(text: string): string {
  return text.search(controls) === -1 ? text : JSON.stringify(text).replace(controls, escapeControl)
}

// Control characters, and those that turn the direction of text around.
const controls = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu

function escapeControl(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}
