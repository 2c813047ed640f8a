/** Stands for no pre-release: it is later than every word that a pre-release can have. */
const released = '~'

/** Below 0 where the first one is older. Both must be semantic versions; what stands behind "+" does not count. */
export function compareVersions(a: string, b: string): number {
  return compareParts(partsOf(a), partsOf(b))
}

/** Newest first, as semantic versions go; texts that are not versions are left out. */
export function newestFirst(versions: readonly string[]): readonly string[] {
  return [...new Set(versions)]
    .map(text => ({ text, parts: partsOf(text) }))
    .filter(({ parts }) => parts.length > 0)
    .toSorted((a, b) => compareParts(b.parts, a.parts))
    .map(({ text }) => text)
}

export function isPreRelease(version: string): boolean {
  return !partsOf(version).includes(released)
}

/** Its three numbers and the words of its pre-release; empty where it is not a version. */
function partsOf(text: string): readonly string[] {
  if (text.length > 256) return []
  const [, numbers, pre = released] = /^v?(\d+\.\d+\.\d+)(?:-([0-9A-Za-z.-]+))?(?:\+[0-9A-Za-z.-]+)?$/.exec(text) ?? []
  return numbers === undefined ? [] : `${numbers}.${pre}`.split('.')
}

function compareParts(a: readonly string[], b: readonly string[]): number {
  const differences = a.slice(0, b.length).map((part, index) => comparePart(part, b[index] ?? ''))
  return differences.find(difference => difference !== 0) ?? a.length - b.length
}

/** Numbers are older than words. */
function comparePart(a: string, b: string): number {
  const [first, second] = [/^\d+$/.test(a), /^\d+$/.test(b)]
  if (first && second) return Number(a) - Number(b)
  if (first !== second) return first ? -1 : 1
  return a === b ? 0 : a < b ? -1 : 1
}
