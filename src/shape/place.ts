/** Keys, and indexes of lists. */
export type Path = readonly (string | number)[]

/** Where a value was written. */
export interface Place {
  /** A file, an environment variable, a flag. */
  readonly source: string
  readonly line?: number
  readonly column?: number
  /** An unquoted scalar as it was written: `1.10`, which as a number is 1.1. */
  readonly text?: string
  /** A YAML tag that nobody knows. */
  readonly tag?: string
}

/** For each object or list: where each of its keys or indexes was written. */
export type Places = WeakMap<object, Map<string | number, Place>>

/** Plain maps, lists and scalars, and where each of them was written. */
export interface Source {
  readonly root: unknown
  /** The place of the whole. */
  readonly place?: Place
  readonly places: Places
}

/** A value without a text behind it, such as one given in code. */
export function fromCode(root: unknown): Source {
  return { root, places: new WeakMap() }
}

/** The place of the value at this path, or of the nearest one above it that has one. */
export function placeOf({ root, place, places }: Source, path: Path): Place | undefined {
  let found = place
  let value = root
  for (const key of path) {
    if (typeof value !== 'object' || value === null) break
    found = places.get(value)?.get(key) ?? found
    value = valueAt(value, [key])
  }
  return found
}

export function setPlace(places: Places, parent: object, key: string | number, place: Place): void {
  const known = places.get(parent) ?? new Map<string | number, Place>()
  places.set(parent, known.set(key, place))
}

/** `purser.yaml:12`, `PURSER_STORE`. */
export function showPlace({ source, line }: Place): string {
  return line === undefined ? source : `${source}:${line}`
}

/** `auth.basic[0].username` */
export function showPath(path: Path): string {
  return path.reduce<string>((shown, part) => {
    if (typeof part === 'number') return `${shown}[${part}]`
    const key = /^[\w$-]{1,64}$/.test(part) ? part : quoted(part)
    return shown === '' ? key : `${shown}.${key}`
  }, '')
}

/** For messages: a text may be of any length. */
export function quoted(text: string): string {
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text)
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Promise)
}

export function valueAt(root: unknown, path: Path): unknown {
  return path.reduce<unknown>((value, key) => {
    const isThere = typeof value === 'object' && value !== null && Object.hasOwn(value, key)
    return isThere ? Reflect.get(value, key) : undefined
  }, root)
}

/** Does nothing where something else than a map or a list is in the way: that is a mistake of its own. */
export function put({ root, places }: Source, path: Path, value: unknown, place?: Place): void {
  let parent = root
  for (const [index, key] of path.entries()) {
    if (typeof parent !== 'object' || parent === null) return
    const last = index === path.length - 1
    if (last || !Object.hasOwn(parent, key)) {
      Reflect.set(parent, key, last ? value : {})
      if (place !== undefined) setPlace(places, parent, key, place)
    }
    parent = Reflect.get(parent, key)
  }
}
