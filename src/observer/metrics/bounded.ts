/** Stands for all that came when there was no more room. */
export const other = 'other'

/**
 * Lets the first `most` texts pass and says `other` for the rest: every text is a series of its own, for as long as the
 * process lives.
 */
export function createBound(most: number): (text: string) => string {
  const known = new Set<string>()
  return text => {
    if (known.has(text)) return text
    if (known.size >= most) return other
    known.add(text)
    return text
  }
}
