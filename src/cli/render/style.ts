/** Turns text into text with colour, or leaves it. */
export interface Style {
  bold(text: string): string
  dim(text: string): string
  red(text: string): string
  cyan(text: string): string
}

export function createStyle(color: boolean): Style {
  const wrap = (on: number, off: number) => (text: string) => (color ? `\u001b[${on}m${text}\u001b[${off}m` : text)
  return { bold: wrap(1, 22), dim: wrap(2, 22), red: wrap(31, 39), cyan: wrap(36, 39) }
}
