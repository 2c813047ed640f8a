interface Version {
  readonly numbers: readonly number[]
  readonly pre: readonly string[]
}

/** Newest first, as semantic versions go; what is none is left out. */
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
  const [, major, minor, patch, pre] =
    /^v?(\d+)\.(\d+)\.(\d+)(?:-([0-9A-Za-z.-]+))?(?:\+[0-9A-Za-z.-]+)?$/.exec(text) ?? []
  if (major === undefined) return undefined
  return { numbers: [major, minor, patch].map(Number), pre: pre?.split('.') ?? [] }
}

function compare(a: Version, b: Version): number {
  for (const [index, number] of a.numbers.entries()) {
    const difference = number - (b.numbers[index] ?? 0)
    if (difference !== 0) return difference
  }
  // A release is newer than what came before it.
  if (a.pre.length === 0 || b.pre.length === 0) return b.pre.length - a.pre.length
  for (const [index, part] of a.pre.entries()) {
    const other = b.pre[index]
    if (other === undefined) return 1
    const difference = comparePart(part, other)
    if (difference !== 0) return difference
  }
  return a.pre.length - b.pre.length
}

function comparePart(a: string, b: string): number {
  const [first, second] = [/^\d+$/.test(a), /^\d+$/.test(b)]
  if (first && second) return Number(a) - Number(b)
  if (first !== second) return first ? -1 : 1
  return a === b ? 0 : a < b ? -1 : 1
}
