import { withinLimits } from '../catalog/pattern.ts'
import { isJsonObject, type Json, type JsonObject } from '../protocol/json.ts'
import type { Mistake } from '../shape/mistake.ts'
import type { Path } from '../shape/place.ts'
import { read } from '../shape/read.ts'
import type { Read } from '../shape/shape.ts'
import { camelCase, locate, toSpecMistake } from './mistakes.ts'
import { isScratch, readSource } from './source.ts'
import { specShape } from './spec-shape.ts'

/** A bundle's description: what stands in its `bundle.yml` or `apb.yml`, checked, and in the code's spelling. */
export type BundleSpec = Omit<Read<typeof specShape>, 'version' | 'image' | 'id'>
export type BundlePlan = BundleSpec['plans'][number]

/** A list in the bundle format, or JSON Schema as its author wrote it. */
export type BundleParameters =
  | { readonly kind: 'list'; readonly list: readonly BundleParameter[] }
  | { readonly kind: 'schema'; readonly schema: JsonObject }

export type ParameterType = 'string' | 'integer' | 'number' | 'boolean' | 'object' | 'array' | 'null'
export type Scalar = string | number | boolean

export interface BundleParameter extends ParameterRules {
  readonly name: string
  readonly type: ParameterType
  readonly title?: string
  readonly description?: string
  readonly default?: Json
  /** Set where the default breaks a rule: this value is taken all the same, from whomever it comes. */
  readonly exempt?: Scalar
  readonly required: boolean
  readonly updatable: boolean
  /** Its value is a secret: it is shown nowhere. */
  readonly sensitive: boolean
  readonly displayType?: string
  readonly displayGroup?: string
  readonly dependsOn?: ParameterCondition
}

/** What a parameter demands of its values, as JSON Schema means it. */
export interface ParameterRules {
  readonly enum?: readonly Scalar[]
  readonly minLength?: number
  readonly maxLength?: number
  readonly pattern?: string
  readonly multipleOf?: number
  readonly minimum?: number
  readonly maximum?: number
  readonly exclusiveMinimum?: number
  readonly exclusiveMaximum?: number
}

/** The parameter exists only beside `key`: beside one of the values, or beside any where none are given. */
export interface ParameterCondition {
  readonly key: string
  readonly values?: readonly Scalar[]
}

/** What a spec says about the program of its folder: one of manifests has none. */
export interface SaidOfProgram {
  readonly entrypoint?: string
  readonly manifests?: unknown
}

export interface ParsedSpec {
  /** Present where no problem is an error. */
  readonly spec?: BundleSpec
  /** Known also of a spec with mistakes. Absent where the source cannot be read. */
  readonly program?: SaidOfProgram
  readonly problems: readonly Mistake[]
  /** Where the source has what is at this path of the spec. */
  readonly find: (path: Path) => Pick<Mistake, 'path' | 'place'>
}

/**
 * Reads a spec: YAML text, or a value that was parsed already. All problems are found at once, and none of them is thrown.
 * `where` is what they call the source. JSON Schema that an author wrote himself is compiled by `checkBundle` only.
 */
export function parseBundleSpec(given: unknown, where: string): ParsedSpec {
  const opened = readSource(given, where)
  if (!opened.ok) return { problems: opened.mistakes, find: path => ({ path }) }
  const { source } = opened
  const reading = withinLimits(() =>
    read(specShape, source, {
      lenient: true,
      spelling: camelCase,
      textAsValues: true,
      valuesAsText: true,
      unknown: () => 'warning',
      isIgnored: isScratch,
    }),
  )
  const problems = reading.mistakes
    .map(mistake => toSpecMistake(specShape, source, mistake))
    .sort((a, b) => (a.place?.line ?? 0) - (b.place?.line ?? 0))
  const find = (path: Path) => locate(source, path)
  if (!reading.ok) return { program: programIn(source.root), problems, find }
  const { version: _, image: __, id: ___, ...spec } = reading.value
  return { spec, program: spec, problems, find }
}

function programIn(root: unknown): SaidOfProgram {
  const { entrypoint, manifests } = isJsonObject(root) ? root : {}
  return { entrypoint: typeof entrypoint === 'string' ? entrypoint : undefined, manifests }
}
