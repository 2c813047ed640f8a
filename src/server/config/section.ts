import { isTree } from './tree.ts'

/** Where a setting stands: keys, and positions in lists. */
export type Path = readonly (string | number)[]

/** What is wrong at a path: something that is not allowed, or a key that nobody knows. */
export type Issue =
  | { readonly path: Path; readonly rule: string }
  | { readonly path: Path; readonly unknownKey: string }

type Report = (issue: Issue) => void
type Presence = 'always' | 'optional'

/** Something that can be set: a scalar, a section or a list. */
export interface Setting<Value, When extends Presence = Presence> {
  /** The value of what is written. Every mistake in it is reported; the answer is undefined where there is one. */
  readonly read: (written: unknown, path: Path, report: Report) => Value | undefined
  readonly presence: When
  /** What stands in where nothing is written, as it would be written in a file. */
  readonly preset?: unknown
  /** The settings of a section. */
  readonly shape?: Shape
  /** What a list is made of. */
  readonly element?: Setting<unknown>
  default(written: unknown): Setting<Value, 'always'>
  optional(): Setting<Value, 'optional'>
}

export type Shape = Readonly<Record<string, Setting<unknown>>>

export type ValueOf<Item> = Item extends Setting<infer Value> ? Value : never

/** A rule that no single setting can keep. It also runs where one of them is wrong: every mistake is told at once. */
export interface Rule<Value> {
  holds(value: Value): boolean
  readonly error: string
  /** Where it is reported, from the section on; the section itself unless told otherwise. */
  readonly path?: Path
}

/** A scalar: `read` answers undefined for what is not allowed, and the mistake then says what is. */
export function setting<Value>(allowed: string, read: (written: unknown) => Value | undefined) {
  return createSetting<Value, 'always'>('always', {
    read(written, path, report) {
      const value = read(written)
      if (value === undefined) report({ path, rule: `allowed: ${allowed}` })
      return value
    },
  })
}

/** A map with these settings and no others. Where it is absent, its settings have their defaults. */
export function section<const S extends Shape>(shape: S, ...rules: readonly Rule<Found<S>>[]) {
  return createSetting<ValuesOf<S>, 'always'>('always', {
    shape,
    preset: {},
    read(written, path, report) {
      if (!isTree(written)) {
        report({ path, rule: 'allowed: a map of settings' })
        return undefined
      }
      const { tell, isRight } = listenTo(report)
      const found: Record<string, unknown> = {}
      for (const [key, child] of Object.entries(shape)) {
        const given = written[key] === undefined ? child.preset : written[key]
        if (given === undefined && child.presence === 'optional') continue
        found[key] = child.read(given, [...path, key], tell)
      }
      for (const unknownKey of Object.keys(written)) if (!Object.hasOwn(shape, unknownKey)) tell({ path, unknownKey })
      applyRules(rules, found as Found<S>, path, tell)
      return isRight() ? (found as ValuesOf<S>) : undefined
    },
  })
}

export function list<Value>(element: Setting<Value>, ...rules: readonly Rule<readonly (Value | undefined)[]>[]) {
  return createSetting<readonly Value[], 'always'>('always', {
    element,
    read(written, path, report) {
      if (!Array.isArray(written)) {
        report({ path, rule: 'allowed: a list' })
        return undefined
      }
      const { tell, isRight } = listenTo(report)
      const found = written.map((item, index) => element.read(item, [...path, index], tell))
      applyRules(rules, found, path, tell)
      return isRight() ? found.filter(value => value !== undefined) : undefined
    },
  })
}

type Parts<Value> = Pick<Setting<Value>, 'read' | 'preset' | 'shape' | 'element'>

function createSetting<Value, When extends Presence>(presence: When, parts: Parts<Value>): Setting<Value, When> {
  const { preset: _, ...rest } = parts
  return {
    ...parts,
    presence,
    default: preset => createSetting('always', { ...rest, preset }),
    optional: () => createSetting('optional', rest),
  }
}

function listenTo(report: Report): { tell: Report; isRight: () => boolean } {
  let right = true
  const tell: Report = issue => {
    right = false
    report(issue)
  }
  return { tell, isRight: () => right }
}

function applyRules<Value>(rules: readonly Rule<Value>[], value: Value, path: Path, report: Report): void {
  for (const rule of rules) if (!rule.holds(value)) report({ path: [...path, ...(rule.path ?? [])], rule: rule.error })
}

type ValuesOf<S extends Shape> = {
  [Key in keyof S as S[Key]['presence'] extends 'optional' ? never : Key]: ValueOf<S[Key]>
} & { [Key in keyof S as S[Key]['presence'] extends 'optional' ? Key : never]?: ValueOf<S[Key]> }

/** A section before it is known to be right: what was given and is wrong has its key, and undefined. */
type Found<S extends Shape> = { readonly [Key in keyof S]?: ValueOf<S[Key]> | undefined }
