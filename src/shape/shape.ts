import * as v from 'valibot'
import type { Sensitive } from '../sensitive/sensitive.ts'
import type { Json } from './json.ts'
import { fromCode, type Path, put } from './place.ts'
import { createObjectRun } from './run-object.ts'

/** A description of a value: what it may be, what it is called on the wire, since when, and what people should know. */
export type Shape<Written = unknown, Read = unknown> = v.GenericSchema<Written, Read>

/** How a value is given, in code or in a file. */
export type Written<S extends Shape> = DeepReadonly<v.InferInput<S>>
/** What is made of it. */
export type Read<S extends Shape> = DeepReadonly<v.InferOutput<S>>

type DeepReadonly<Value> = Value extends Sensitive<unknown> | ((...args: never[]) => unknown)
  ? Value
  : Value extends object
    ? string extends keyof Value
      ? Readonly<Value>
      : readonly Json[] extends Value
        ? Value
        : { readonly [Key in keyof Value]: DeepReadonly<Value[Key]> }
    : Value

type DeepPartial<Value> =
  Value extends Sensitive<unknown>
    ? Value
    : Value extends readonly (infer Item)[]
      ? readonly (DeepPartial<Item> | undefined)[]
      : Value extends object
        ? { readonly [Key in keyof Value]?: DeepPartial<Value[Key]> }
        : Value

/** What can be said about any field. */
export interface About {
  /** The minor version of the OSB API that brought it; it has always been there unless told otherwise. */
  readonly since?: number
  /** For the reference: what it means. */
  readonly doc?: string
  /** What to do where the rule is broken, if the rule does not say it already. */
  readonly remedy?: string
  /** Messages never show the value. */
  readonly secret?: boolean
  /** What messages call it where its key says too little: `a plan`. */
  readonly noun?: string
  /** How messages show a text that may hold a secret. */
  readonly show?: (text: string) => string
}

type TextKind = 'text' | 'cron' | 'file' | 'folder'
export type Kind = TextKind | 'flag' | 'number' | 'duration' | 'size' | 'choice' | 'written' | 'other'

/** A field: everything that is not made of other fields. */
export interface FieldInfo extends About {
  readonly kind: Kind
  /** What is allowed: `a whole number from 1 to 10`. */
  readonly rule: string
}

/** A rule that no single field can keep; it answers how it is broken. Fields that are wrong are undefined to it. */
export type Rule<Value> = (value: Value) => Broken | readonly Broken[] | false | undefined

interface Broken {
  readonly error: string
  /** What is allowed, and hardly meant, is a warning. */
  readonly severity?: 'warning'
  /** Where it is reported, from the object on; the object itself unless told otherwise. */
  readonly path?: Path
}

type ListRule<Item> = Rule<readonly (Item | undefined)[]>

/** No two items of a list may have the same key. It is reported at the field `at` of the later one. */
export function unique<Item>(keyOf: (item: Item) => unknown, at: string, error: string): ListRule<Item> {
  return items => {
    const seen = new Set<unknown>()
    return items.flatMap((item, index) => {
      const key = item === undefined ? undefined : keyOf(item)
      if (key === undefined || !seen.has(key)) {
        seen.add(key)
        return []
      }
      return { path: [index, at], error }
    })
  }
}

export interface ObjectInfo<Value> extends About {
  /** What it must be: `a plan, with id, name and description`. */
  readonly rule?: string
  readonly rules?: readonly Rule<DeepPartial<Value>>[]
  /** What becomes of keys that are not described; an error unless told otherwise. */
  readonly unknown?: 'error' | 'warning' | 'ignore'
}

/** A scalar, or something that is read as a whole: `read` answers undefined for what is not allowed. */
export function field<Given, Value>(
  info: FieldInfo,
  read: (written: unknown) => Value | undefined,
): v.GenericSchema<Given, Value> {
  const known = v.custom<Given>(written => read(written) !== undefined)
  const transform = v.transform<Given, Value>(written => read(written) as Value)
  const schema = v.pipe(known, transform, v.metadata({ info }))
  const judge: (typeof schema)['~run'] = schema['~run'].bind(schema)
  // Most values are allowed, and specs have hundreds of them: those are read once, and without the pipe.
  const run: typeof judge = (dataset, config) => {
    const value = read(dataset.value)
    return value === undefined ? judge(dataset, config) : ({ typed: true, value } as ReturnType<typeof judge>)
  }
  return Object.assign(schema, { '~run': run })
}

type Fields<Entries extends v.ObjectEntries> = v.ObjectSchema<Entries, undefined>

/** An object with these fields. */
export function object<const Entries extends v.ObjectEntries>(
  entries: Entries,
  { rules = [], ...info }: ObjectInfo<v.InferOutput<Fields<Entries>>> = {},
): Fields<Entries> {
  const schema = v.object(entries)
  const run = createObjectRun(entries as never, schema['~run'].bind(schema) as never)
  return withRules(Object.assign(schema, { '~run': run as (typeof schema)['~run'] }), rules, { rule: 'a map', ...info })
}

/** An object that is as good as empty where nobody gives it: each of its fields has a default, or may be left out. */
export function section<const Entries extends v.ObjectEntries>(
  entries: Entries,
  info: ObjectInfo<v.InferOutput<Fields<Entries>>> = {},
): v.OptionalSchema<Fields<Entries>, v.InferInput<Fields<Entries>>> {
  return v.optional(object(entries, { rule: 'a map of settings', ...info }), {} as never) as never
}

export function list<const Item extends Shape>(
  item: Item,
  { rules = [], ...info }: Omit<ObjectInfo<v.InferOutput<Item>[]>, 'unknown'> = {},
): v.ArraySchema<Item, undefined> {
  return withRules(v.array(item), rules as never, { rule: 'a list', ...info })
}

/** An object whose keys are names, with a value of this shape for each. */
export function map<const Item extends Shape>(item: Item, info: About = {}) {
  return v.pipe(
    v.record(v.string(), item as v.GenericSchema<v.InferInput<Item>, v.InferOutput<Item>>),
    v.metadata({ info: { rule: 'a map', ...info } }),
  )
}

export const optional = <const S extends Shape>(shape: S) => v.optional(shape)

/** `preset` is what stands in where nobody gives a value, as it would be written. */
export function fallback<const S extends Shape, const Preset extends v.InferInput<S>>(
  shape: S,
  preset: Preset,
): v.OptionalSchema<S, Preset> {
  return v.optional(shape, preset as never) as never
}

function withRules<S extends Shape>(schema: S, rules: readonly Rule<never>[], info: object): S {
  const described = v.pipe(schema as v.GenericSchema, v.metadata({ info })) as unknown as S
  if (rules.length === 0) return described
  return convert(described, (value, notes) => {
    for (const { error, severity = 'error', path = [] } of rules.flatMap(rule => rule(value as never) || []))
      notes[severity](error, ...path)
    return value
  }) as unknown as S
}

/** Tells what is wrong with a value. The path begins there. */
export type Notes = Readonly<Record<Severity, (problem: string, ...path: Path) => undefined>>

type Severity = 'error' | 'warning'

/** What can be relied on of a value: fields and items that are wrong are undefined. */
export type Sound<S> =
  S extends v.OptionalSchema<infer Wrapped, unknown>
    ? Sound<Wrapped>
    : S extends v.ObjectSchema<infer Entries, undefined>
      ? { readonly [Key in keyof Entries]?: Sound<Entries[Key]> }
      : S extends v.ArraySchema<infer Item, undefined>
        ? readonly (Sound<Item> | undefined)[]
        : S extends Shape
          ? v.InferOutput<S>
          : never

/**
 * Makes something else of a value, and tells what no single field can know to be wrong with it. `make` also runs where
 * fields are wrong. It answers undefined where nothing can be made of them: then there is a mistake.
 */
export function convert<const S extends Shape, Value>(
  shape: S,
  make: (read: Sound<S>, notes: Notes) => Value | undefined,
): v.GenericSchema<v.InferInput<S>, Value> {
  const run: S['~run'] = (dataset, config) => {
    const result = shape['~run'](dataset, config)
    const { value: read, typed } = result
    let issues: Issue[] | undefined
    if (result.issues !== undefined) {
      issues = [...result.issues]
      if (issues.some(({ kind, path }) => kind === 'schema' && path === undefined)) return result
      for (const issue of issues) {
        // valibot has made the value anew, so that nobody else sees the change.
        if (issue.kind === 'schema' && !issue.settled) put(fromCode(read), pathOf(issue), undefined)
        issue.settled = true
      }
    }
    const note = (expected: Severity, message: string, path: Path) => {
      const items = path.length === 0 ? undefined : path.map(toItem)
      issues ??= []
      issues.push({ kind: 'validation', message, expected, path: items } as unknown as Issue)
      return undefined
    }
    const value = make(read as Sound<S>, {
      error: (message, ...path) => note('error', message, path),
      warning: (message, ...path) => note('warning', message, path),
    })
    return { typed, value, issues } as typeof result
  }
  return { ...shape, '~run': run } as never
}

/** Settled: what is wrong is not in the value any more. */
type Issue = v.BaseIssue<unknown> & { settled?: boolean }

export function pathOf({ path = [] }: { readonly path?: readonly { readonly key: unknown }[] }): Path {
  return path.map(({ key }) => key as string | number)
}

/** What `isKept` knows is kept as it is; anything else must be of this shape. */
export function unless<Kept, const S extends Shape>(
  isKept: (value: unknown) => value is Kept,
  shape: S,
): v.GenericSchema<v.InferInput<S> | Kept, Sound<S> | Kept> {
  const run: S['~run'] = (dataset, config) =>
    isKept(dataset.value) ? { typed: true, value: dataset.value } : shape['~run'](dataset, config)
  return { ...shape, '~run': run } as never
}

function toItem(key: string | number): unknown {
  return { type: 'unknown', origin: 'value', input: undefined, key, value: undefined }
}
