/** The first text that stands in the list more than once. */
export function findRepeated(texts: readonly string[]): string | undefined {
  return texts.find((text, index) => texts.indexOf(text) !== index)
}
