/**
 * The type that a JSON Schema literal describes, after its defaults have been filled in. It follows what people write
 * for parameters; whatever it does not follow is `unknown`, never a wrong promise.
 */
export type FromJsonSchema<S> = S extends { readonly const: infer Value }
  ? Value
  : S extends { readonly enum: readonly (infer Value)[] }
    ? Value
    : S extends { readonly type: infer Type }
      ? FromTypes<S, Type>
      : S extends { readonly anyOf: readonly (infer Member)[] }
        ? FromJsonSchema<Member>
        : S extends { readonly oneOf: readonly (infer Member)[] }
          ? FromJsonSchema<Member>
          : unknown

type FromTypes<S, Type> = Type extends readonly (infer Member)[] ? FromType<S, Member> : FromType<S, Type>

type FromType<S, Type> = Type extends keyof Named<S> ? Named<S>[Type] : unknown

interface Named<S> {
  string: string
  number: number
  integer: number
  boolean: boolean
  null: null
  array: FromItems<S>
  object: FromObject<S>
}

/** A list of `items` is a tuple in some drafts and not in others: its members stay unknown. */
type FromItems<S> = S extends { readonly items: infer Items }
  ? Items extends readonly unknown[]
    ? unknown[]
    : FromJsonSchema<Items>[]
  : unknown[]

type FromObject<S> = S extends { readonly properties: infer Properties }
  ? Simplify<
      { [K in PresentKeys<S, Properties>]: FromJsonSchema<Properties[K]> } & {
        [K in Exclude<keyof Properties, PresentKeys<S, Properties>>]?: FromJsonSchema<Properties[K]>
      }
    > &
      FurtherKeys<S>
  : S extends { readonly additionalProperties: infer Further }
    ? Further extends boolean
      ? { [key: string]: Further extends false ? never : unknown }
      : { [key: string]: FromJsonSchema<Further> }
    : { [key: string]: unknown }

/** Without `additionalProperties` further keys are legal too, but nobody means them: the type stays closed. */
type FurtherKeys<S> = S extends { readonly additionalProperties: infer Further }
  ? Further extends false
    ? unknown
    : { [key: string]: unknown }
  : unknown

type PresentKeys<S, Properties> = keyof Properties & (RequiredKeys<S> | DefaultedKeys<Properties>)

type RequiredKeys<S> = S extends { readonly required: readonly (infer Key)[] } ? Key : never

type DefaultedKeys<Properties> = {
  [K in keyof Properties]: Properties[K] extends { readonly default: unknown } ? K : never
}[keyof Properties]

type Simplify<T> = { [K in keyof T]: T[K] }
