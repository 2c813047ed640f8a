import { lookUp } from '../catalog/json-schema-walk.ts'
import { isJsonObject, type Json, type JsonObject, withoutUndefined } from '../protocol/json.ts'
import type { BundleParameter, BundleParameters, BundleSpec } from './spec.ts'

/**
 * The spec as users see it where the operator himself gives these parameters of every plan: they may neither be given nor
 * be asked for. A condition on one of them is dropped, since nobody else knows its value.
 */
export function hideParameters(spec: BundleSpec, names: readonly string[]): BundleSpec {
  if (names.length === 0) return spec
  const hidden = new Set(names)
  return { ...spec, plans: spec.plans.map(plan => ({ ...plan, parameters: hide(plan.parameters, hidden) })) }
}

function hide(parameters: BundleParameters, hidden: ReadonlySet<string>): BundleParameters {
  if (parameters.kind === 'schema') return { kind: 'schema', schema: hideProperties(parameters.schema, hidden) }
  const list = parameters.list.filter(({ name }) => !hidden.has(name)).map(one => withoutCondition(one, hidden))
  return { kind: 'list', list }
}

/** Beside any value of a hidden parameter means always. Beside some of them: it may be given, and nothing more is known. */
function withoutCondition(parameter: BundleParameter, hidden: ReadonlySet<string>): BundleParameter {
  const { dependsOn, ...rest } = parameter
  if (dependsOn === undefined || !hidden.has(dependsOn.key)) return parameter
  if (dependsOn.values === undefined) return rest
  const { default: _, ...free } = rest
  return { ...free, required: false }
}

/**
 * A JSON Schema for objects to which somebody else adds these properties later: what passes with them passes without them
 * too. So it is never narrower than before, and what cannot be judged without them is not demanded.
 */
function hideProperties(root: JsonObject, hidden: ReadonlySet<string>): JsonObject {
  const isHidden = (name: Json) => typeof name === 'string' && hidden.has(name)
  const known = new Map<JsonObject, boolean>()

  /** Whether a schema of the object itself, not of something inside of it, says anything about one of them. */
  const isAbout = (schema: Json | undefined): boolean => {
    if (Array.isArray(schema)) return schema.some(isAbout)
    if (!isJsonObject(schema)) return false
    const before = known.get(schema)
    if (before !== undefined) return before
    // Each schema is looked at once, also one that refers to itself.
    known.set(schema, false)
    const { properties, required, minProperties, $ref } = schema
    const about =
      membersOf(properties).some(([name]) => isHidden(name)) ||
      (Array.isArray(required) && required.some(isHidden)) ||
      minProperties !== undefined ||
      ofItself.some(word => isAbout(schema[word])) ||
      byName.some(word => membersOf(schema[word]).some(([name, value]) => isHidden(name) || demandsHidden(value))) ||
      isAbout(lookUp(root, $ref))
    known.set(schema, about)
    return about
  }
  const demandsHidden = (value: Json | undefined) => (Array.isArray(value) && value.some(isHidden)) || isAbout(value)

  const copies = new Map<string, string>()
  const definitions: Record<string, Json> = {}

  /** Others may refer to the same schema for objects of their own: it stays, and has a copy. */
  const redirect = (reference: Json | undefined): Json | undefined => {
    const target = lookUp(root, reference)
    if (typeof reference !== 'string' || target === undefined || !isAbout(target)) return reference
    const copy = copies.get(reference) ?? freeName(root.definitions, copies.size)
    if (!copies.has(reference)) {
      copies.set(reference, copy)
      definitions[copy] = hide(target)
    }
    return `#/definitions/${copy}`
  }

  const hide = (schema: JsonObject): JsonObject => {
    if (!isAbout(schema)) return schema
    const { if: condition, then: _, else: __, not, oneOf, ...rest } = schema
    const all = [
      ...(Array.isArray(rest.allOf) ? rest.allOf.map(hideAny) : []),
      // More than one of them may pass now.
      ...(Array.isArray(oneOf) && isAbout(oneOf) ? [{ anyOf: oneOf.map(hideAny) }] : []),
    ]
    return withoutUndefined({
      ...rest,
      $ref: redirect(rest.$ref),
      properties: isJsonObject(rest.properties) ? withoutHidden(rest.properties) : rest.properties,
      required: remaining(rest.required),
      minProperties: typeof rest.minProperties === 'number' ? Math.max(0, rest.minProperties - hidden.size) : undefined,
      allOf: all.length === 0 ? undefined : all,
      anyOf: Array.isArray(rest.anyOf) ? rest.anyOf.map(hideAny) : rest.anyOf,
      oneOf: isAbout(oneOf) ? undefined : oneOf,
      not: isAbout(not) ? undefined : not,
      ...(isAbout(condition) ? {} : Object.fromEntries(conditional.map(word => [word, hideAny(schema[word])]))),
      ...Object.fromEntries(byName.map(word => [word, hideByName(rest[word])])),
    })
  }

  const hideAny = <Part extends Json | undefined>(part: Part): Part | JsonObject =>
    isJsonObject(part) ? hide(part) : part

  const hideByName = (members: Json | undefined): Json | undefined => {
    if (!isJsonObject(members)) return members
    const hideOne = (value: Json | undefined) => (Array.isArray(value) ? remaining(value) : hideAny(value))
    return withoutUndefined(
      Object.fromEntries(Object.entries(withoutHidden(members)).map(([name, value]) => [name, hideOne(value)])),
    )
  }

  const withoutHidden = (members: JsonObject): JsonObject =>
    Object.fromEntries(Object.entries(members).filter(([name]) => !isHidden(name)))

  /** An empty list is not allowed in every draft. */
  const remaining = (names: Json | undefined): Json | undefined => {
    const rest = Array.isArray(names) ? names.filter(name => !isHidden(name)) : names
    return Array.isArray(rest) && rest.length === 0 ? undefined : rest
  }

  const shown = hide(root)
  if (copies.size === 0) return shown
  return { ...shown, definitions: { ...(isJsonObject(root.definitions) ? root.definitions : {}), ...definitions } }
}

const conditional = ['if', 'then', 'else'] as const
const ofItself = ['allOf', 'anyOf', 'oneOf', 'not', ...conditional] as const
/** What a property brings with it: schemas of the whole object, or lists of names. */
const byName = ['dependencies', 'dependentSchemas', 'dependentRequired'] as const

function membersOf(value: Json | undefined): readonly (readonly [string, Json | undefined])[] {
  return isJsonObject(value) ? Object.entries(value) : []
}

function freeName(taken: Json | undefined, count: number): string {
  for (let number = count; ; number++) {
    const name = `shown-${number}`
    if (!isJsonObject(taken) || !Object.hasOwn(taken, name)) return name
  }
}
