import { isJsonObject, type Json } from '../protocol/json.ts'
import { createBudget, type Path, protoProblem, SourceError, type SourceFault, type Spend } from './budget.ts'
import { type Places, readYaml } from './yaml.ts'

/** A value of the spec, and where it stands. */
export interface Item {
  readonly value: Json
  readonly path: Path
  readonly line?: number
  /** A plain scalar as it was written: 1.0, which as a number is 1. */
  readonly text?: string
}

export type Source =
  | { readonly ok: true; readonly root: Item; child(parent: Item, key: string | number): Item | undefined }
  | { readonly ok: false; readonly faults: readonly SourceFault[] }

/** YAML text, or a value that somebody else has parsed. What comes back is plain JSON, a tree of its own. */
export function readSource(source: unknown): Source {
  const places: Places = new WeakMap()
  const faults: SourceFault[] = []
  try {
    const value = typeof source === 'string' ? readYaml(source, places, faults) : copy(source, [], createBudget())
    if (faults.length > 0) return { ok: false, faults }
    const root = { value, path: [], ...(typeof source === 'string' ? { line: 1 } : {}) }
    return { ok: true, root, child: (parent, key) => childOf(parent, key, places) }
  } catch (error) {
    if (error instanceof SourceError) return { ok: false, faults: [...faults, error.fault] }
    throw error
  }
}

function childOf({ value, path }: Item, key: string | number, places: Places): Item | undefined {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined
  const child = Array.isArray(value) ? value[Number(key)] : isJsonObject(value) ? value[key] : undefined
  return child === undefined ? undefined : { value: child, path: [...path, key], ...places.get(value)?.get(key) }
}

function copy(value: unknown, path: Path, spend: Spend): Json {
  spend(path.length, { path: path.slice(0, 10) })
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value
  if (typeof value === 'number' && Number.isFinite(value)) return value
  if (Array.isArray(value)) return Array.from(value, (item: unknown, index) => copy(item, [...path, index], spend))
  if (typeof value === 'object' && isPlain(value)) {
    if (Object.hasOwn(value, '__proto__')) throw new SourceError({ path, problem: protoProblem })
    return Object.fromEntries(
      Object.entries(value)
        .filter(([, item]) => item !== undefined)
        .map(([key, item]) => [key, copy(item, [...path, key], spend)]),
    )
  }
  throw new SourceError({ path, problem: 'it holds something that JSON cannot hold; use only what JSON knows' })
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || prototype === Object.prototype
}
