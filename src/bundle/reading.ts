import { isJsonObject, type Json, type JsonObject } from '../protocol/json.ts'
import { typeName } from '../shape/mistake.ts'
import { type Path, quoted, showPath } from '../shape/place.ts'
import { type Child, type Item, readSource } from './source.ts'

export interface SpecProblem {
  /** An error keeps the bundle out of the catalog; a warning says what was made of it. */
  readonly severity: 'error' | 'warning'
  /** The file or image that the spec came from. */
  readonly where: string
  /** Below the spec: `plans[0].parameters[2].default`; empty for the spec itself. */
  readonly path: string
  readonly line?: number
  /** What is wrong, and what to do. */
  readonly problem: string
}

export function formatSpecProblem({ severity, where, path, line, problem }: SpecProblem): string {
  const place = [line === undefined ? where : `${where}:${line}`, ...(path === '' ? [] : [path])]
  return `${place.join(': ')}: ${severity}: ${problem}`
}

export type Fields = ReadonlyMap<string, Item>

/** Reads a spec and notes everything that is wrong with it on the way. */
export interface Reading {
  readonly problems: readonly SpecProblem[]
  error(at: Item, problem: string): undefined
  warn(at: Item, problem: string): undefined
  /** The fields of an object by their camelCase names, in whichever spelling they stand; undefined where it is none. */
  object(item: Item, what: string, known: readonly string[]): Fields | undefined
  list(item: Item | undefined, what: string): readonly Item[]
  /** The members of an object under the names that they have. */
  members(item: Item): readonly (readonly [string, Item])[]
  /** A number or a flag is taken as it was written. Undefined where there is none; what is no text is an error. */
  text(item: Item | undefined, what: string): string | undefined
  flag(item: Item | undefined, what: string): boolean | undefined
  json(item: Item | undefined, what: string): JsonObject | undefined
}

/** Opens a source for reading; without a root where it has faults, which are problems then. */
export function openReading(source: unknown, where: string): { readonly reading: Reading; readonly root?: Item } {
  const read = readSource(source)
  if (read.ok) return { reading: createReading(where, read.child), root: read.root }
  const problems = read.faults.map(({ path = [], ...fault }) => toProblem({ severity: 'error', where, path, ...fault }))
  return { reading: createReading(where, () => undefined, problems) }
}

function createReading(where: string, child: Child, problems: SpecProblem[] = []): Reading {
  const note = (severity: SpecProblem['severity']) => (at: Item, problem: string) => {
    problems.push(toProblem({ severity, where, path: at.path, line: at.line, problem }))
    return undefined
  }
  const error = note('error')
  const warn = note('warning')
  const wrong = ({ value }: Item, what: string, expected: string) =>
    `${what} must be ${expected}, not ${typeName(value)}`

  const members = (item: Item) =>
    isJsonObject(item.value)
      ? Object.keys(item.value).flatMap(key => {
          const found = child(item, key)
          return found === undefined ? [] : [[key, found] as const]
        })
      : []

  return {
    problems,
    error,
    warn,
    members,
    object(item, what, known) {
      if (!isJsonObject(item.value)) return error(item, `${wrong(item, what, 'a map')}; write keys and values`)
      const fields = new Map<string, Item>()
      for (const [written, found] of members(item)) {
        const key = camelCase(written)
        if (!known.includes(key)) {
          if (!isScratch(written))
            warn(found, `${quoted(written)} is not known here and has no effect; known are ${known.join(', ')}`)
        } else if (fields.has(key)) error(found, `"${key}" is given twice, in two spellings; remove one of them`)
        else fields.set(key, found)
      }
      // A key without a value counts as absent; it is kept until here to find the second spelling.
      for (const [key, { value }] of fields) if (value === null) fields.delete(key)
      return fields
    },
    list(item, what) {
      if (item === undefined) return []
      if (!Array.isArray(item.value)) {
        error(item, `${wrong(item, what, 'a list')}; begin each entry with "- "`)
        return []
      }
      return Array.from(item.value.keys()).flatMap(index => child(item, index) ?? [])
    },
    text(item, what) {
      if (item === undefined) return undefined
      const text = asText(item)
      if (text === undefined) return error(item, `${wrong(item, what, 'a text')}; write it in quotes`)
      return text.trim() === '' ? error(item, `${what} is empty; give it a text`) : text
    },
    flag(item, what) {
      if (item === undefined) return undefined
      return asFlag(item.value) ?? error(item, `${wrong(item, what, 'true or false')}; write it without quotes`)
    },
    json(item, what) {
      if (item === undefined) return undefined
      if (isJsonObject(item.value)) return item.value
      return error(item, `${wrong(item, what, 'a map')}; write keys and values`)
    },
  }
}

export function toProblem({ path, ...rest }: Omit<SpecProblem, 'path'> & { readonly path: Path }): SpecProblem {
  return { ...rest, path: showPath(path) }
}

export function asText({ value, text }: Item): string | undefined {
  if (typeof value === 'string') return value
  return typeof value === 'number' || typeof value === 'boolean' ? (text ?? String(value)) : undefined
}

/** The words that YAML 1.1, in which many bundles were written, takes for flags. */
export function asFlag(value: Json): boolean | undefined {
  if (typeof value !== 'string') return typeof value === 'boolean' ? value : undefined
  const word = value.toLowerCase()
  return ['true', 'yes', 'on'].includes(word) ? true : ['false', 'no', 'off'].includes(word) ? false : undefined
}

/** `max_length` and `maxLength` are one key. */
export function camelCase(key: string): string {
  return key.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
}

/** Names that every object has already: validators take them for present where nobody gave them. */
export function isInherited(name: string): boolean {
  return name in Object.prototype
}

/** Bundles keep what they use several times by an alias under such keys. */
export function isScratch(key: string): boolean {
  return key.startsWith('_') || key.startsWith('x-')
}
