/**
 * The part of the Standard Schema contract (version 1) that we use, so that any validation library that keeps it can
 * describe parameters. `jsonSchema` is its optional extension for libraries that can write their schema as JSON Schema.
 */
export interface StandardSchemaV1<Input = unknown, Output = Input> {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>
    readonly types?: { readonly input: Input; readonly output: Output } | undefined
    readonly jsonSchema?: { readonly input: (options: { readonly target: string }) => Record<string, unknown> }
  }
}

export type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] }

export interface StandardIssue {
  readonly message: string
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined
}

export type InferStandardOutput<S extends StandardSchemaV1> = NonNullable<S['~standard']['types']>['output']

export type InferStandardInput<S extends StandardSchemaV1> = NonNullable<S['~standard']['types']>['input']

/** Some libraries make their schemas callable, so a function counts too. */
export function isStandardSchema(value: unknown): value is StandardSchemaV1 {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return false
  const standard: unknown = Reflect.get(value, '~standard')
  return typeof standard === 'object' && standard !== null && typeof Reflect.get(standard, 'validate') === 'function'
}
