import * as v from 'valibot'
import { type Described, describe, describeAt, relaxed } from './describe.ts'
import { asFlag, type WrittenValue } from './fields.ts'
import type { Json } from './json.ts'
import { type FieldMistake, isWarning, type Mistake, type Severity, show, typeName } from './mistake.ts'
import {
  isObject,
  type Path,
  type Place,
  type Places,
  placeOf,
  quoted,
  type Source,
  setPlace,
  valueAt,
} from './place.ts'
import { type Kind, pathOf, type Read, type Shape } from './shape.ts'
import { suggest } from './suggest.ts'
import { createTold } from './told.ts'

export interface ReadOptions {
  /** For files: keys in camelCase, snake_case or kebab-case, and a key without a value is as good as absent. */
  readonly lenient?: boolean
  /** What the shape calls a key, where that is not for `lenient` to say. */
  readonly spelling?: (key: string) => string
  /** How keys are called where a mistake names those that are known. */
  readonly shownAs?: (key: string) => string
  /** Takes the text `true` for a flag and `5` for a number: environment variables hold nothing but text. */
  readonly textAsValues?: boolean
  /** Takes a text for the list of what stands between its commas, and an empty one for no flag and no number, as Spring does. */
  readonly textAsLists?: boolean
  /** Takes a number or a flag for a text, as it was written. */
  readonly valuesAsText?: boolean
  /** What becomes of keys that nobody knows, whatever the shape says. */
  readonly unknown?: (key: string) => 'error' | 'warning' | 'ignore'
  /** Keys that are nobody's business. */
  readonly isIgnored?: (key: string) => boolean
}

export type Reading<S extends Shape> =
  | { readonly ok: true; readonly value: Read<S>; readonly mistakes: readonly FieldMistake[] }
  | { readonly ok: false; readonly mistakes: readonly FieldMistake[] }

/** What was given, in the form that code uses, or everything that is wrong with it. */
export function read<S extends Shape>(shape: S, source: Source, options: ReadOptions = {}): Reading<S> {
  const { source: tidied, mistakes: ofKeys } = normalize(shape, source, options)
  const result = v.safeParse(shape as v.GenericSchema<unknown, Read<S>>, tidied.root)
  const told = createTold()
  for (const issue of result.issues ?? []) told.add(severityOf(issue), () => toMistake(shape, tidied, issue))
  const mistakes = [...ofKeys, ...told.mistakes()]
  if (result.typed && mistakes.every(isWarning)) return { ok: true, value: result.output, mistakes }
  return { ok: false, mistakes }
}

function severityOf({ kind, expected }: v.BaseIssue<unknown>): Severity {
  return kind === 'validation' && expected === 'warning' ? 'warning' : 'error'
}

/** A copy of the source with the keys as the shape spells them. Values are not checked. */
export function normalize(shape: Shape, source: Source, options: ReadOptions = {}) {
  const told = createTold()
  const tidying: Tidying = {
    places: source.places,
    options,
    report: (toMistake, severity = 'error') =>
      told.add(severity, () => ({ severity, found: '', type: '', rule: '', ...toMistake() })),
  }
  const root = tidy(tidying, describe(shape), source.root, { path: [] })
  return { source: { ...source, root }, mistakes: told.mistakes() }
}

interface Tidying {
  readonly places: Places
  readonly options: ReadOptions
  report(toMistake: () => Mistake & Pick<FieldMistake, 'kind'>, severity?: Severity): void
}

type Spot = Pick<Mistake, 'path' | 'place'>

/** A copy with the keys as the shape spells them. What does not have its type is left for the shape to judge. */
function tidy(tidying: Tidying, described: Described, value: unknown, spot: Spot): unknown {
  const { path, place } = spot
  reportTag(tidying, spot)
  if (described.fields !== undefined && isObject(value)) return tidyObject(tidying, described, value, path)
  const { item, isList } = described
  const { places, options } = tidying
  if (options.textAsLists && isList && item?.fields === undefined) {
    const text = coerce('text', value, place?.text, options)
    if (typeof text === 'string') return splitList(text)
  }
  if (item !== undefined && (isList ? Array.isArray(value) : isObject(value))) {
    const children = Object.entries(value as object).map(([name, child]): [string, unknown] => {
      const key = isList ? Number(name) : name
      const place = places.get(value as object)?.get(key)
      return [name, tidy(tidying, item, child, { path: [...path, key], place })]
    })
    const result = isList ? children.map(([, child]) => child) : Object.fromEntries(children)
    places.set(result, places.get(value as object) ?? new Map())
    return result
  }
  reportInnerTags(tidying, value, path)
  const { kind } = described.info
  if (kind === 'written') return toWritten(places, value, place?.text)
  return coerce(kind, value, place?.text, tidying.options)
}

function tidyObject(tidying: Tidying, described: Described, value: Record<string, unknown>, path: Path): unknown {
  const { places, options, report } = tidying
  const { fields = new Map<string, Described>(), spellings } = described
  const usual = (name: string) => (options.lenient ? spellings.get(relaxed(name)) : name)
  const spell = options.spelling ?? usual
  const result: Record<string, unknown> = {}
  const written = new Map<string, Place | undefined>()
  for (const [name, child] of Object.entries(value)) {
    if (child === undefined) continue
    const key = spell(name)
    const field = key === undefined ? undefined : fields.get(key)
    const place = places.get(value)?.get(name)
    if (key === undefined || field === undefined) reportUnknown(tidying, described, { path: [...path, name], place })
    else if (written.has(key)) {
      const line = written.get(key)?.line
      const problem = `is given twice${line === undefined ? '' : `, first in line ${line}`}`
      report(() => ({ kind: 'twice', path: [...path, key], place, problem, remedy: 'keep one' }))
    } else {
      written.set(key, place)
      if (child === null && options.lenient) continue
      if (child === '' && options.textAsLists && (field.info.kind === 'flag' || field.info.kind === 'number')) continue
      if (place !== undefined) setPlace(places, result, key, place)
      result[key] = tidy(tidying, field, child, { path: [...path, key], place })
    }
  }
  return result
}

function reportUnknown({ options, report }: Tidying, { info, fields, spellings }: Described, { path, place }: Spot) {
  const key = String(path.at(-1))
  const severity = options.unknown?.(key) ?? info.unknown ?? 'error'
  if (severity === 'ignore' || options.isIgnored?.(key)) return
  report(() => {
    const { shownAs = (name: string) => name } = options
    const known = [...(fields?.keys() ?? [])].map(shownAs)
    const same = spellings.get(relaxed(key))
    const near = same === undefined ? suggest(key, known) : shownAs(same)
    const remedy = near === undefined ? `known here: ${known.join(', ')}` : `did you mean ${near}?`
    return { severity, kind: 'unknown', path, place, problem: 'is not known here', remedy }
  }, severity)
}

/** A tag that nobody resolved would silently turn into text. */
function reportTag({ report }: Tidying, { path, place }: Spot): void {
  const tag = place?.tag
  if (tag === undefined) return
  const problem = `has the tag ${quoted(tag)}, which has no meaning here`
  report(() => ({ kind: 'tag', path, place, problem, remedy: 'remove it' }))
}

function reportInnerTags(tidying: Tidying, parent: unknown, path: Path): void {
  const places = typeof parent === 'object' && parent !== null ? tidying.places.get(parent) : undefined
  for (const [key, place] of places ?? []) {
    const value: unknown = Reflect.get(parent as object, key)
    reportTag(tidying, { path: [...path, key], place })
    reportInnerTags(tidying, value, [...path, key])
  }
}

function coerce(kind: Kind | undefined, value: unknown, written: string | undefined, options: ReadOptions): unknown {
  if (typeof value === 'string') {
    if (!options.textAsValues) return value
    if (kind === 'flag') return asFlag(value) ?? value
    return (kind === 'number' || kind === 'choice') && /^-?\d+(\.\d+)?$/.test(value) ? Number(value) : value
  }
  if (!options.valuesAsText || (typeof value !== 'number' && typeof value !== 'boolean')) return value
  return kind === 'text' || kind === 'file' || kind === 'folder' || kind === 'cron' ? (written ?? String(value)) : value
}

/** What stands between the commas of a text. */
export function splitList(text: string): readonly string[] {
  return text
    .split(',')
    .map(part => part.trim())
    .filter(part => part !== '')
}

function toWritten(places: Places, value: unknown, text: string | undefined): WrittenValue {
  if (!Array.isArray(value)) return { value: value as Json, text }
  const items = value.map((item, index) => toWritten(places, item, places.get(value)?.get(index)?.text))
  return { value: value as Json, text, items }
}

/** Where something else stands than the map that a secret belongs in, it may be the secret. */
function holdsSecret({ info, fields, item }: Described): boolean {
  return info.secret ?? [...(fields?.values() ?? []), ...(item ? [item] : [])].some(holdsSecret)
}

function nearChoice({ kind, rule = '' }: Described['info'], value: unknown): string | undefined {
  const near = kind === 'choice' && typeof value === 'string' ? suggest(value, rule.split(' or ')) : undefined
  return near && `did you mean ${near}?`
}

function toMistake(shape: Shape, source: Source, issue: v.BaseIssue<unknown>): FieldMistake {
  const path = pathOf(issue)
  const described = describeAt(shape, path)
  const { info = {}, preset } = described ?? {}
  const value = valueAt(source.root, path)
  const options = { secret: described !== undefined && holdsSecret(described), mask: info.show }
  const usual = value === undefined && preset !== undefined
  const found = usual ? `its default ${show(preset, options)}` : show(value, options)
  const hint = info.remedy ?? nearChoice(info, value)
  const facts = { path, place: placeOf(source, path), found, type: typeName(value), hint }
  if (issue.kind === 'validation') {
    const { message: rule, expected } = issue
    const severity = expected === 'warning' ? 'warning' : 'error'
    const problem = rule.startsWith('needs') ? rule : `found ${found}; ${rule}`
    return { ...facts, severity, kind: 'rule', rule, problem }
  }
  const { rule = 'nothing' } = info
  const remedy = `allowed: ${rule}`
  return value === undefined
    ? { ...facts, kind: 'missing', rule, problem: 'is missing', remedy }
    : { ...facts, kind: 'wrong', rule, problem: `found ${found}`, remedy }
}
