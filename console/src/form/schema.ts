import { Validator, type Schema as ValidatorSchema } from '@cfworker/json-schema'

export type Schema = Readonly<Record<string, unknown>>

/** What a field of a form is made from. Whatever it cannot draw is written as JSON. */
export type FieldKind = 'object' | 'array' | 'string' | 'number' | 'boolean' | 'enum' | 'choice' | 'json'

export function kindOf(schema: Schema): FieldKind {
  if (Array.isArray(schema.enum)) return 'enum'
  if (Array.isArray(schema.oneOf) || Array.isArray(schema.anyOf)) return 'choice'
  const type = Array.isArray(schema.type) ? schema.type.find(each => each !== 'null') : schema.type
  if (type === 'object' || (type === undefined && isSchema(schema.properties)))
    return isSchema(schema.properties) ? 'object' : 'json'
  if (type === 'array') return isSchema(schema.items) ? 'array' : 'json'
  if (type === 'string' || type === 'boolean') return type
  if (type === 'number' || type === 'integer') return 'number'
  return 'json'
}

export function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function propertiesOf(schema: Schema): readonly (readonly [string, Schema])[] {
  return isSchema(schema.properties)
    ? (Object.entries(schema.properties).filter(entry => isSchema(entry[1])) as [string, Schema][])
    : []
}

export function requiredOf(schema: Schema): readonly string[] {
  return Array.isArray(schema.required) ? schema.required.filter(name => typeof name === 'string') : []
}

/** The forms that a value may have, of which one is chosen. */
export function choicesOf(schema: Schema): readonly Schema[] {
  const list = schema.oneOf ?? schema.anyOf
  return Array.isArray(list) ? list.filter(isSchema).map(each => resolve(each, schema)) : []
}

/** `$ref` to definitions of the same schema; anything else stays as it is and is written as JSON. */
export function resolve(schema: Schema, root: Schema): Schema {
  const ref = schema.$ref
  if (typeof ref !== 'string' || !ref.startsWith('#/')) return schema
  const target = ref
    .slice(2)
    .split('/')
    .reduce<unknown>(
      (at, key) => (isSchema(at) ? at[key.replaceAll('~1', '/').replaceAll('~0', '~')] : undefined),
      root,
    )
  return isSchema(target) ? target : schema
}

/** A value to begin with: defaults, and what must be there. What nobody has given stays absent. */
export function initialOf(schema: Schema, root: Schema = schema): unknown {
  const own = resolve(schema, root)
  if ('default' in own) return own.default
  if ('const' in own) return own.const
  if (kindOf(own) === 'choice') {
    const [first] = choicesOf(own)
    return first === undefined ? undefined : initialOf(first, root)
  }
  if (kindOf(own) !== 'object') return undefined
  const entries = propertiesOf(own).map(([name, inner]) => [name, initialOf(inner, root)] as const)
  const required = requiredOf(own)
  return Object.fromEntries(
    entries.filter(([name, value]) => value !== undefined && (required.includes(name) || !isEmpty(value))),
  )
}

function isEmpty(value: unknown): boolean {
  return isSchema(value) && Object.keys(value).length === 0
}

/** Which of the forms a value has; the first where it fits none. */
export function choiceOf(schema: Schema, value: unknown): number {
  const found = choicesOf(schema).findIndex(each => value !== undefined && problemsOf(each, value).length === 0)
  return Math.max(0, found)
}

const drafts: readonly (readonly [string, '4' | '7' | '2019-09' | '2020-12'])[] = [
  ['draft-04', '4'],
  ['2019-09', '2019-09'],
  ['2020-12', '2020-12'],
]

/** What is wrong with a value, each with where it is. The broker checks by itself; this only says it earlier. */
export function problemsOf(schema: Schema, value: unknown): readonly string[] {
  const said = typeof schema.$schema === 'string' ? schema.$schema : ''
  const draft = drafts.find(([name]) => said.includes(name))?.[1] ?? '7'
  const { valid, errors } = new Validator(schema as ValidatorSchema, draft, false).validate(value)
  if (valid) return []
  const leaves = errors.filter(({ keyword }) => !['properties', 'items', 'allOf'].includes(keyword))
  return [
    ...new Set(
      (leaves.length > 0 ? leaves : errors).map(
        ({ instanceLocation, error }) => `${instanceLocation.replace(/^#\/?/, '') || 'It'}: ${error}`,
      ),
    ),
  ]
}
