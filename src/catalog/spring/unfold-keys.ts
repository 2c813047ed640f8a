import { relaxed } from '../../shape/describe.ts'
import { splitKey } from '../../shape/find-node.ts'
import { isObject, type Place, type Places, setPlace } from '../../shape/place.ts'

/** What is the author's own from here on: its keys are not cut. */
const contentKeys: ReadonlySet<string> = new Set(['metadata', 'parameters'])

/**
 * A copy in which `plans[0].id: …` and `parameters[$schema]: …` stand nested, beside what is there already. Inside of what
 * Spring does not know, it wants brackets around keys with special characters (`"[$schema]": …`): they are taken off.
 */
export function unfoldKeys(value: unknown, places: Places, isContent = false): unknown {
  if (Array.isArray(value)) {
    const items = value.map(item => unfoldKeys(item, places, isContent))
    places.set(items, places.get(value) ?? new Map())
    return items
  }
  if (!isObject(value)) return value
  const unfolded: Record<string, unknown> = {}
  for (const [written, item] of Object.entries(value)) {
    const parts = isContent ? [`[${/^\[(.+)\]$/.exec(written)?.[1] ?? written}]`] : splitKey(written)
    const inner = unfoldKeys(item, places, isContent || parts.some(part => contentKeys.has(relaxed(part))))
    insert(unfolded, parts, inner, { places, place: places.get(value)?.get(written) })
  }
  return unfolded
}

interface Where {
  readonly places: Places
  readonly place: Place | undefined
}

function insert(target: object, [part = '', ...rest]: readonly string[], value: unknown, where: Where): void {
  const key = keyIn(target, part)
  const present: unknown = Reflect.get(target, key)
  const { places, place } = where
  if (rest.length === 0 && isObject(present) && isObject(value)) {
    for (const [name, item] of Object.entries(value))
      insert(present, [`[${name}]`], item, { places, place: places.get(value)?.get(name) ?? place })
    return
  }
  if (place !== undefined && present === undefined) setPlace(places, target, key, place)
  if (rest.length === 0) Reflect.set(target, key, value)
  else if (typeof present === 'object' && present !== null) insert(present, rest, value, where)
  else {
    const child = index.test(rest[0] ?? '') ? [] : {}
    Reflect.set(target, key, child)
    insert(child, rest, value, where)
  }
}

/** Far more than a catalog has of anything, and few enough for a list. */
const index = /^\[\d{1,4}\]$/

/** A map that is there in another spelling is the same one; a key in brackets is meant as it is. */
function keyIn(target: object, part: string): string | number {
  if (Array.isArray(target)) return index.test(part) ? Number(part.slice(1, -1)) : part
  const [, bare] = /^\[(.*)\]$/.exec(part) ?? []
  const isSame = ([key, value]: [string, unknown]) => typeof value === 'object' && relaxed(key) === relaxed(part)
  return bare ?? Object.entries(target).find(isSame)?.[0] ?? part
}
