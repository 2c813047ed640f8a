import { relaxed } from '../../shape/describe.ts'
import type { Mistake } from '../../shape/mistake.ts'
import { isObject, type Path, type Place, type Places, type Source, setPlace } from '../../shape/place.ts'

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
      merge(target, nest(keys, inner, places.get(value)?.get(key)), path)
    }
    return target
  }

  function nest(keys: readonly string[], value: unknown, place: Place | undefined): unknown {
    return keys.reduceRight((inner, key) => {
      const parent = { [key]: inner }
      if (place !== undefined) setPlace(places, parent, key, place)
      return parent
    }, value)
  }

  function merge(target: Record<string, unknown>, more: unknown, path: Path): void {
    for (const [name, value] of Object.entries(more as object)) {
      const place = places.get(more as object)?.get(name)
      const key = Object.keys(target).find(candidate => relaxed(candidate) === relaxed(name)) ?? name
      const present = Object.hasOwn(target, key) ? target[key] : undefined
      if (present === undefined) {
        target[key] = value
        if (place !== undefined) setPlace(places, target, key, place)
      } else if (isObject(present) && isObject(value)) merge(present, value, [...path, key])
      else {
        const first = places.get(target)?.get(key)?.line
        const problem = `is given twice${first === undefined ? '' : `, first in line ${first}`}`
        mistakes.push({ path: [...path, key].map(toCamelCase), place, problem, remedy: 'keep one' })
      }
    }
  }

  return { source: { root: convert(root, []), places }, mistakes }
}

/** Puts a document over those before it: maps key by key, anything else as a whole. */
export function putOver(target: Record<string, unknown>, more: unknown, places: Places): void {
  for (const [name, value] of Object.entries(more as object)) {
    const key = Object.keys(target).find(candidate => relaxed(candidate) === relaxed(name)) ?? name
    const present = target[key]
    if (isObject(present) && isObject(value)) putOver(present, value, places)
    else {
      target[key] = value
      const place = places.get(more as object)?.get(name)
      if (place !== undefined) setPlace(places, target, key, place)
    }
  }
}

function toCamelCase(key: string | number): string | number {
  return typeof key === 'number' ? key : key.replaceAll(/[-_]+(.?)/g, (_, next: string) => next.toUpperCase())
}
