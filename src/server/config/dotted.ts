import { relaxed } from '../../shape/describe.ts'
import type { Mistake } from '../../shape/mistake.ts'
import { isObject, type Path, type Place, type Source, setPlace } from '../../shape/place.ts'

/** Sections with a reader of their own: their keys may be names of things, such as images. */
const verbatim: ReadonlySet<string> = new Set(['registries', 'registry'])

/** A copy in which `server.port: 80` stands nested, beside what `server` holds already. A key without a value is left out. */
export function unfoldDots({ root, places }: Source): { source: Source; mistakes: readonly Mistake[] } {
  const mistakes: Mistake[] = []

  function convert(value: unknown, path: Path): unknown {
    if (Array.isArray(value)) {
      const items = value.map((item, index) => convert(item, [...path, index]))
      places.set(items, places.get(value) ?? new Map())
      return items
    }
    if (!isObject(value)) return value
    const target: Record<string, unknown> = {}
    for (const [key, child] of Object.entries(value)) {
      if (child === null) continue
      const segments = key.split('.').filter(segment => segment !== '')
      const keys = segments.length === 0 ? [key] : segments
      const inner = path.length === 0 && verbatim.has(key) ? child : convert(child, [...path, ...keys])
      insert(target, path, keys, inner, places.get(value)?.get(key))
    }
    return target
  }

  function insert(parent: Record<string, unknown>, path: Path, keys: readonly string[], value: unknown, place?: Place) {
    const [first = '', ...rest] = keys
    const key = Object.keys(parent).find(candidate => relaxed(candidate) === relaxed(first)) ?? first
    const present = Object.hasOwn(parent, key) ? parent[key] : undefined
    const content = rest.length > 0 ? {} : value
    if (present === undefined) {
      parent[key] = content
      if (place !== undefined) setPlace(places, parent, key, place)
      if (isObject(content) && rest.length > 0) insert(content, [...path, key], rest, value, place)
    } else if (isObject(present) && isObject(content)) {
      if (rest.length > 0) insert(present, [...path, key], rest, value, place)
      for (const [name, child] of Object.entries(content))
        insert(present, [...path, key], [name], child, places.get(content)?.get(name) ?? place)
    } else {
      const first = places.get(parent)?.get(key)?.line
      const problem = `is given twice${first === undefined ? '' : `, first in line ${first}`}`
      mistakes.push({ path: [...path, key].map(toCamelCase), place, problem, remedy: 'keep one' })
    }
  }

  return { source: { root: convert(root, []), places }, mistakes }
}

function toCamelCase(key: string | number): string | number {
  return typeof key === 'number' ? key : key.replaceAll(/[-_]+(.?)/g, (_, next: string) => next.toUpperCase())
}
