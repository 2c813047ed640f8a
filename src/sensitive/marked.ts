import { secretsIn } from './secrets-in.ts'
import { Sensitive } from './sensitive.ts'

/** A `Sensitive` in the ledger: an object with this key alone, so that it comes back as one. */
const mark = '$sensitive'

type Marked = { readonly [mark]: unknown }

function isMarked(value: object): value is Marked {
  return Object.hasOwn(value, mark) && Object.keys(value).length === 1
}

/** How `JSON.stringify` writes values that are to be kept: marked, or as what they hold. */
export function writeSensitive(how: 'marked' | 'revealed') {
  return function replace(this: Record<string, unknown>, key: string, value: unknown): unknown {
    // By now `value` is what toJSON made of it.
    const given = this[key]
    if (!(given instanceof Sensitive)) return value
    return how === 'marked' ? { [mark]: given.reveal() } : given.reveal()
  }
}

/** What was kept, with a `Sensitive` wherever one was given. Values without any are given back as they are. */
export function readMarked<T>(kept: T): T {
  if (!holdsMark(kept)) return kept
  return revive(kept) as T
}

function revive(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || value instanceof Sensitive) return value
  if (Array.isArray(value)) return value.map(revive)
  if (isMarked(value)) return new Sensitive(value[mark])
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, revive(item)]))
}

function holdsMark(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  return isMarked(value) || Object.values(value).some(holdsMark)
}

/** Every text that is marked somewhere in a kept value. */
export function markedIn(value: unknown): readonly string[] {
  if (typeof value !== 'object' || value === null) return []
  return isMarked(value) ? secretsIn(value[mark]) : Object.values(value).flatMap(markedIn)
}
