interface Version {
  readonly numbers: readonly string[]
  readonly pre: readonly string[]
}

/** Newest first, as semantic versions go; texts that are not versions are left out. */
export function newestFirst(versions: readonly string[]): readonly string[] {
  return [...new Set(versions)]
    .flatMap(text => {
      const version = parse(text)
      return version === undefined ? [] : [{ text, version }]
    })
    .toSorted((a, b) => compare(b.version, a.version))
    .map(({ text }) => text)
}

export function isPreRelease(version: string): boolean {
  return (parse(version)?.pre.length ?? 0) > 0
}

function parse(text: string): Version | undefined {
  if (text.length > 256) return undefined
  const [, numbers, pre] = /^v?(\d+\.\d+\.\d+)(?:-([0-9A-Za-z.-]+))?(?:\+[0-9A-Za-z.-]+)?$/.exec(text) ?? []
  return numbers === undefined ? undefined : { numbers: numbers.split('.'), pre: pre?.split('.') ?? [] }
}

function compare(a: Version, b: Version): number {
  const difference = compareParts(a.numbers, b.numbers)
  if (difference !== 0) return difference
  // A release is newer than what came before it.
  if (a.pre.length === 0 || b.pre.length === 0) return b.pre.length - a.pre.length
  return compareParts(a.pre, b.pre)
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
