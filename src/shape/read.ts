import * as v from 'valibot'
import { type Described, describe, describeAt, relaxed } from './describe.ts'
import { type Mistake, show, typeName } from './mistake.ts'
import { isObject, type Path, type Place, placeOf, quoted, type Source, setPlace, valueAt } from './place.ts'
import type { Kind, Read, Shape } from './shape.ts'
import { suggest } from './suggest.ts'

export interface ReadOptions {
  /** For files: keys in camelCase, snake_case or kebab-case, and a key without a value is as good as absent. */
  readonly lenient?: boolean
  /** Takes the text `true` for a flag and `5` for a number: environment variables hold nothing but text. */
  readonly textAsValues?: boolean
  /** Takes a number or a flag for a text, as it was written. */
  readonly valuesAsText?: boolean
  /** What becomes of keys that nobody knows, whatever the shape says. */
  readonly unknown?: 'error' | 'warning' | 'ignore'
  /** Keys that are nobody's business. */
  readonly isIgnored?: (key: string) => boolean
}

export type Reading<S extends Shape> =
  | { readonly ok: true; readonly value: Read<S>; readonly mistakes: readonly Mistake[] }
  | { readonly ok: false; readonly mistakes: readonly Mistake[] }

/** What was given, in the form that code uses, or everything that is wrong with it. */
export function read<S extends Shape>(shape: S, source: Source, options: ReadOptions = {}): Reading<S> {
  const { source: tidied, mistakes: ofKeys } = normalize(shape, source, options)
  const mistakes = [...ofKeys]
  const result = v.safeParse(shape as v.GenericSchema<unknown, Read<S>>, tidied.root)
  for (const issue of result.issues ?? []) mistakes.push(toMistake(shape, tidied, issue))
  if (result.success && mistakes.every(({ severity }) => severity === 'warning'))
    return { ok: true, value: result.output, mistakes }
  return { ok: false, mistakes }
}

/** A copy of the source with the keys as the shape spells them. Values are not checked. */
export function normalize(shape: Shape, source: Source, options: ReadOptions = {}) {
  const mistakes: Mistake[] = []
  const root = tidy({ source, options, report: mistake => mistakes.push(mistake) }, describe(shape), source.root, [])
  return { source: { ...source, root }, mistakes }
}

interface Tidying {
  readonly source: Source
  readonly options: ReadOptions
  report(mistake: Mistake): void
}

/** A copy with the keys as the shape spells them. What does not have its type is left for the shape to judge. */
function tidy(tidying: Tidying, described: Described, value: unknown, path: Path, place?: Place): unknown {
  reportTag(tidying, value, path, place)
  if (described.fields !== undefined && isObject(value)) return tidyObject(tidying, described, value, path)
  const { item } = described
  const { places } = tidying.source
  if (item !== undefined && (described.isList ? Array.isArray(value) : isObject(value))) {
    const children = Object.entries(value as object).map(([name, child]): [string, unknown] => {
      const key = described.isList ? Number(name) : name
      return [name, tidy(tidying, item, child, [...path, key], places.get(value as object)?.get(key))]
    })
    const result = described.isList ? children.map(([, child]) => child) : Object.fromEntries(children)
    places.set(result, places.get(value as object) ?? new Map())
    return result
  }
  reportInnerTags(tidying, value, path)
  return coerce(described.info.kind, value, place?.text, tidying.options)
}

function tidyObject(tidying: Tidying, described: Described, value: Record<string, unknown>, path: Path): unknown {
  const { source, options } = tidying
  const { fields = new Map<string, Described>(), spellings } = described
  const result: Record<string, unknown> = {}
  const written = new Map<string, Place | undefined>()
  for (const [name, child] of Object.entries(value)) {
    if (child === undefined) continue
    const key = options.lenient ? spellings.get(relaxed(name)) : name
    const field = key === undefined ? undefined : fields.get(key)
    const place = source.places.get(value)?.get(name)
    if (key === undefined || field === undefined) reportUnknown(tidying, described, [...path, name], place)
    else if (written.has(key)) reportTwice(tidying, [...path, key], place, written.get(key))
    else {
      written.set(key, place)
      if (child === null && options.lenient) continue
      if (place !== undefined) setPlace(source.places, result, key, place)
      result[key] = tidy(tidying, field, child, [...path, key], place)
    }
  }
  return result
}

function reportUnknown(
  { options, report }: Tidying,
  { info, fields, spellings }: Described,
  path: Path,
  place?: Place,
) {
  const key = String(path.at(-1))
  const severity = options.unknown ?? info.unknown ?? 'error'
  if (severity === 'ignore' || options.isIgnored?.(key)) return
  const known = [...(fields?.keys() ?? [])]
  const near = spellings.get(relaxed(key)) ?? suggest(key, known)
  const remedy = near === undefined ? `known here: ${known.join(', ')}` : `did you mean ${near}?`
  report({
    severity,
    kind: 'unknown',
    path,
    place,
    found: quoted(key),
    type: 'a key',
    rule: 'is not known here',
    remedy,
  })
}

function reportTwice({ report }: Tidying, path: Path, place: Place | undefined, first: Place | undefined): void {
  const rule = `is given twice${first?.line === undefined ? '' : `, first in line ${first.line}`}`
  const found = quoted(String(path.at(-1)))
  report({ severity: 'error', kind: 'twice', path, place, found, type: 'a key', rule, remedy: 'keep one' })
}

/** A tag that nobody resolved would silently turn into text. */
function reportTag({ report }: Tidying, value: unknown, path: Path, place: Place | undefined): void {
  if (place?.tag === undefined) return
  const rule = `has the tag ${quoted(place.tag)}, which has no meaning here`
  report({ severity: 'error', kind: 'twice', path, place, found: '', type: typeName(value), rule, remedy: 'remove it' })
}

function reportInnerTags(tidying: Tidying, value: unknown, path: Path): void {
  const places = typeof value === 'object' && value !== null ? tidying.source.places.get(value) : undefined
  for (const [key, place] of places ?? []) {
    const child: unknown = Reflect.get(value as object, key)
    reportTag(tidying, child, [...path, key], place)
    reportInnerTags(tidying, child, [...path, key])
  }
}

function coerce(kind: Kind | undefined, value: unknown, written: string | undefined, options: ReadOptions): unknown {
  if (typeof value === 'string') {
    if (!options.textAsValues) return value
    if (kind === 'flag') return flags.get(value.toLowerCase()) ?? value
    return (kind === 'number' || kind === 'choice') && /^-?\d+(\.\d+)?$/.test(value) ? Number(value) : value
  }
  if (!options.valuesAsText || (typeof value !== 'number' && typeof value !== 'boolean')) return value
  return kind === 'text' || kind === 'file' || kind === 'folder' || kind === 'cron' ? (written ?? String(value)) : value
}

/** With the words of YAML 1.1, in which many files were written. */
const flags: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['yes', true],
  ['on', true],
  ['false', false],
  ['no', false],
  ['off', false],
])

/** Where something else stands than the map that a secret belongs in, it may be the secret. */
function holdsSecret({ info, fields, item }: Described): boolean {
  return info.secret ?? [...(fields?.values() ?? []), ...(item ? [item] : [])].some(holdsSecret)
}

function nearChoice({ kind, rule = '' }: Described['info'], value: unknown): string | undefined {
  const near = kind === 'choice' && typeof value === 'string' ? suggest(value, rule.split(' or ')) : undefined
  return near && `did you mean ${near}?`
}

function toMistake(shape: Shape, source: Source, issue: v.BaseIssue<unknown>): Mistake {
  const path = (issue.path ?? []).map(({ key }) => key as string | number)
  const described = describeAt(shape, path)
  const { info = {}, preset } = described ?? {}
  const value = valueAt(source.root, path)
  const isRule = issue.kind === 'validation'
  const options = { secret: described !== undefined && holdsSecret(described), mask: info.show }
  const usual = value === undefined && preset !== undefined
  return {
    severity: 'error',
    kind: isRule ? 'rule' : value === undefined ? 'missing' : 'wrong',
    path,
    place: placeOf(source, path),
    found: usual ? `its default ${show(preset, options)}` : show(value, options),
    type: typeName(value),
    rule: isRule ? issue.message : (info.rule ?? 'nothing'),
    remedy: info.remedy ?? nearChoice(info, value),
  }
}
