/** Settings before they are checked: maps, lists and scalars, their keys in camelCase. */
export interface Tree {
  [key: string]: unknown
}

/** Where a setting was given, and the folder that a path in it starts from. */
export interface Origin {
  readonly where: string
  readonly folder: string
}

/** By the path of a setting; what has no entry of its own stands where its parent does. */
export type Origins = Map<string, Origin>

export function isTree(value: unknown): value is Tree {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function toPath(segments: readonly PropertyKey[]): string {
  return segments.reduce<string>((path, segment) => join(path, segment), '')
}

export function join(path: string, segment: PropertyKey): string {
  if (typeof segment === 'number') return `${path}[${segment}]`
  return path === '' ? String(segment) : `${path}.${String(segment)}`
}

export function getIn(tree: Tree, segments: readonly PropertyKey[]): unknown {
  let value: unknown = tree
  for (const segment of segments) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, segment)) return undefined
    value = Reflect.get(value, segment)
  }
  return value
}

/** Leaves the tree as it is where something else than a map or a list is in the way: that is a mistake of its own. */
export function setIn(tree: object, [first, ...rest]: readonly (string | number)[], value: unknown): void {
  if (first === undefined) return
  if (rest.length === 0) {
    Reflect.set(tree, first, value)
    return
  }
  if (!Object.hasOwn(tree, first)) Reflect.set(tree, first, {})
  const child: unknown = Reflect.get(tree, first)
  if (typeof child === 'object' && child !== null) setIn(child, rest, value)
}

export function findOrigin(origins: Origins, segments: readonly PropertyKey[]): Origin | undefined {
  for (let length = segments.length; length > 0; length -= 1) {
    const origin = origins.get(toPath(segments.slice(0, length)))
    if (origin !== undefined) return origin
  }
  return undefined
}
