import * as v from 'valibot'
import { isObject, type Path } from './place.ts'

/** A description of a value: what it may be, what it is called on the wire, since when, and what people should know. */
export type Shape<Written = unknown, Read = unknown> = v.GenericSchema<Written, Read>

/** How a value is given, in code or in a file. */
export type Written<S extends Shape> = v.InferInput<S>
/** What is made of it. */
export type Read<S extends Shape> = DeepReadonly<v.InferOutput<S>>

type DeepReadonly<Value> = Value extends (...args: never[]) => unknown
  ? Value
  : Value extends object
    ? string extends keyof Value
      ? Readonly<Value>
      : { readonly [Key in keyof Value]: DeepReadonly<Value[Key]> }
    : Value

type DeepPartial<Value> = Value extends readonly (infer Item)[]
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
  /** How messages show a text that may hold a secret. */
  readonly show?: (text: string) => string
}

export type Kind = 'text' | 'flag' | 'number' | 'duration' | 'size' | 'choice' | 'cron' | 'file' | 'folder' | 'other'

/** A field: everything that is not made of other fields. */
export interface FieldInfo extends About {
  readonly kind: Kind
  /** What is allowed: `a whole number from 1 to 10`. */
  readonly rule: string
}

/**
 * A rule that no single field can keep; it answers how it is broken. It also runs where fields are wrong, and finds them
 * undefined.
 */
export type Rule<Value> = (value: Value) => Broken | readonly Broken[] | false | undefined

interface Broken {
  readonly error: string
  /** What is allowed, and hardly meant, is a warning. */
  readonly severity?: 'warning'
  /** Where it is reported, from the object on; the object itself unless told otherwise. */
  readonly path?: Path
}

/** No two items of a list may have the same key. It is reported at the field `at` of the later one. */
export function unique<Item>(
  keyOf: (item: Item) => unknown,
  at: string,
  error: string,
): Rule<readonly (Item | undefined)[]> {
  return items => {
    const keys = items.map(item => (item === undefined ? undefined : keyOf(item)))
    const again = [...keys.keys()].filter(index => keys[index] !== undefined && keys.indexOf(keys[index]) < index)
    return again.map(index => ({ path: [index, at], error }))
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
  return v.pipe(known, transform, v.metadata({ info }))
}

/** An object with these fields. */
export function object<const Entries extends v.ObjectEntries>(
  entries: Entries,
  { rules = [], ...info }: ObjectInfo<v.InferOutput<v.ObjectSchema<Entries, undefined>>> = {},
): v.ObjectSchema<Entries, undefined> {
  const schema = v.object(entries)
  const run: (typeof schema)['~run'] = schema['~run'].bind(schema)
  // valibot takes a list or a promise for an object.
  const strict: typeof run = (dataset, config) =>
    run(isObject(dataset.value) ? dataset : { ...dataset, value: null }, config)
  return withRules(Object.assign(schema, { '~run': strict }), rules, { rule: 'a map', ...info })
}

type Section<Entries extends v.ObjectEntries> = v.OptionalSchema<
  v.ObjectSchema<Entries, undefined>,
  v.InferInput<v.ObjectSchema<Entries, undefined>>
>

/** An object that is as good as empty where nobody gives it: each of its fields has a default, or may be left out. */
export function section<const Entries extends v.ObjectEntries>(
  entries: Entries,
  info: ObjectInfo<v.InferOutput<v.ObjectSchema<Entries, undefined>>> = {},
): Section<Entries> {
  const schema = object(entries, { rule: 'a map of settings', ...info })
  return v.optional(schema, {} as never) as never
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
  const checks = rules.map(rule =>
    v.rawCheck(({ dataset, addIssue }) => {
      if (typeof dataset.value !== 'object' || dataset.value === null) return
      const wrong = (dataset.issues ?? []).filter(({ kind }) => kind !== 'validation')
      const sound = wrong.reduce<unknown>((value, issue) => without(value, pathOf(issue)), dataset.value)
      for (const { error, severity, path = [] } of [rule(sound as never) || []].flat())
        addIssue({ message: error, expected: severity, path: path.map(toItem) as never })
    }),
  )
  const pipe = [schema, ...checks, v.metadata({ info })] as unknown as [S, v.MetadataAction<S, { info: object }>]
  return v.pipe(...pipe) as unknown as S
}

export function pathOf({ path }: Pick<v.BaseIssue<unknown>, 'path'>): Path {
  return (path ?? []).map(({ key }) => key as string | number)
}

/** A copy without what stands at this path; the keys stay. */
function without(value: unknown, [key, ...rest]: Path): unknown {
  if (typeof value !== 'object' || value === null || key === undefined) return undefined
  const copy: object = Array.isArray(value) ? [...value] : { ...value }
  Reflect.set(copy, key, without(Reflect.get(value, key), rest))
  return copy
}

function toItem(key: string | number): unknown {
  return { type: 'unknown', origin: 'value', input: undefined, key, value: undefined }
}
