import type { Json, JsonObject } from '../protocol/json.ts'
import type { BundleAction, BundleResources } from './actions.ts'
import { readSpec } from './read-spec.ts'
import { openReading, type SpecProblem } from './reading.ts'

/** A bundle's description: what stands in its `bundle.yml` or `apb.yml`, checked, and in the code's spelling. */
export interface BundleSpec {
  readonly name: string
  readonly description: string
  readonly bindable: boolean
  readonly async: BundleAsync
  readonly tags: readonly string[]
  readonly metadata: JsonObject
  readonly plans: readonly BundlePlan[]
  /** Gates of features that are not settled; those that nobody knows are kept. */
  readonly alpha: JsonObject & { readonly dashboardRedirect?: boolean }
  /** A semantic version. */
  readonly bundleVersion?: string
  /** What is run in place of the usual entry point: a path inside the bundle. */
  readonly entrypoint?: string
  /** Milliseconds. */
  readonly timeouts: Readonly<Partial<Record<BundleAction, number>>>
  readonly resources: Readonly<Partial<Record<BundleAction, BundleResources>>>
}

export type BundleAsync = 'optional' | 'required' | 'unsupported'

export interface BundlePlan {
  readonly name: string
  readonly description: string
  readonly free: boolean
  /** Absent: as the spec says. */
  readonly bindable?: boolean
  readonly metadata: JsonObject
  readonly parameters: BundleParameters
  readonly bindParameters: BundleParameters
  /** Names of the plans that an instance of this one can move to. */
  readonly updatesTo: readonly string[]
}

/** A list in the bundle format, or JSON Schema as its author wrote it. */
export type BundleParameters =
  | { readonly kind: 'list'; readonly list: readonly BundleParameter[] }
  | { readonly kind: 'schema'; readonly schema: JsonObject }

export type ParameterType = 'string' | 'integer' | 'number' | 'boolean' | 'object' | 'array' | 'null'
export type Scalar = string | number | boolean

export interface BundleParameter {
  readonly name: string
  readonly type: ParameterType
  readonly title?: string
  readonly description?: string
  readonly default?: Json
  readonly required: boolean
  readonly updatable: boolean
  /** Its value is a secret: it is shown nowhere. */
  readonly sensitive: boolean
  readonly enum?: readonly Scalar[]
  readonly minLength?: number
  readonly maxLength?: number
  readonly pattern?: string
  readonly multipleOf?: number
  readonly minimum?: number
  readonly maximum?: number
  readonly exclusiveMinimum?: number
  readonly exclusiveMaximum?: number
  readonly displayType?: string
  readonly displayGroup?: string
  readonly dependsOn?: ParameterCondition
}

/** The parameter exists only beside `key`: beside one of the values, or beside any where none are given. */
export interface ParameterCondition {
  readonly key: string
  readonly values?: readonly Scalar[]
}

export interface ParsedSpec {
  /** Present where no problem is an error. */
  readonly spec?: BundleSpec
  readonly problems: readonly SpecProblem[]
}

/**
 * Reads a spec: YAML text, or a value that was parsed already. All problems are found at once, and none of them is
 * thrown. `where` is what problems call the source. JSON Schema that an author wrote himself is compiled by `checkBundle`
 * only.
 */
export function parseBundleSpec(source: unknown, where: string): ParsedSpec {
  const { reading, root } = openReading(source, where)
  const spec = root && readSpec(root, reading)
  const { problems } = reading
  return spec === undefined || problems.some(({ severity }) => severity === 'error') ? { problems } : { spec, problems }
}
