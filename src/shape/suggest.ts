/** The known name that a wrong one was most likely meant to be. */
export function suggest(wrong: string, known: readonly string[]): string | undefined {
  const limit = Math.max(1, Math.floor(wrong.length / 3))
  const ranked = known
    // Long keys may come from anywhere; those cannot be near.
    .filter(name => Math.abs(name.length - wrong.length) <= limit)
    .map(name => ({ name, distance: distance(wrong.toLowerCase(), name.toLowerCase()) }))
    .filter(candidate => candidate.distance <= limit)
    .sort((left, right) => left.distance - right.distance)
  return ranked[0]?.name
}

/** Insertions, deletions, replacements and swaps of neighbours that make one text of the other. */
function distance(left: string, right: string): number {
  let before: number[] = []
  let above = Array.from({ length: right.length + 1 }, (_, index) => index)
  for (let row = 1; row <= left.length; row += 1) {
    const current = [row]
    for (let column = 1; column <= right.length; column += 1) {
      const same = left[row - 1] === right[column - 1]
      const swapped =
        row > 1 && column > 1 && left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1]
      current[column] = Math.min(
        (above[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (above[column - 1] ?? 0) + (same ? 0 : 1),
        swapped ? (before[column - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY,
      )
    }
    before = above
    above = current
  }
  return above[right.length] ?? 0
}
