import type { JsonObject } from '../protocol/json.ts'
import type { BundleParameter, Scalar } from './spec.ts'

/**
 * The conditions between parameters as `dependencies` of a draft-04 schema, by the parameter that they begin with: one
 * that depends on another is refused without it, and demanded with it where it is required. They are `dependencies` and
 * nothing else because these are judged after the defaults have been filled in.
 */
export function toDemands(list: readonly BundleParameter[]): ReadonlyMap<string, JsonObject> {
  const byName = new Map(list.map(parameter => [parameter.name, parameter]))
  const demands = new Map<string, JsonObject[]>()
  const demand = (name: string, schema: JsonObject) => demands.set(name, [...(demands.get(name) ?? []), schema])
  for (const parameter of list) {
    const other = parameter.dependsOn && byName.get(parameter.dependsOn.key)
    if (other === undefined) continue
    const values = parameter.dependsOn?.values
    demand(parameter.name, {
      ...(values === undefined ? {} : { properties: { [other.name]: { enum: values } } }),
      required: [other.name],
    })
    const counterpart = toCounterpart(parameter, other, values)
    if (counterpart !== undefined) demand(other.name, counterpart)
  }
  return new Map(
    [...demands].map(([name, schemas]) => {
      const [only, ...more] = schemas
      return [name, more.length === 0 && only !== undefined ? only : { allOf: schemas }]
    }),
  )
}

/** What the other parameter brings with it: the demand for this one, and its default. */
function toCounterpart(
  { name, required, default: fallback }: BundleParameter,
  other: BundleParameter,
  values: readonly Scalar[] | undefined,
): JsonObject | undefined {
  if (!required && fallback === undefined) return undefined
  const counterpart = {
    ...(fallback === undefined ? {} : { properties: { [name]: { default: fallback } } }),
    ...(required ? { required: [name] } : {}),
  }
  const rest = values === undefined ? [] : restOf(other, values)
  if (rest?.length === 0) return counterpart
  const otherwise = rest === undefined ? { not: { enum: values } } : { enum: rest }
  return { anyOf: [{ properties: { [other.name]: otherwise } }, counterpart] }
}

/** The values that a parameter has beside these; undefined where they cannot be listed. */
function restOf({ type, enum: all }: BundleParameter, values: readonly Scalar[]): readonly Scalar[] | undefined {
  const list = all ?? (type === 'boolean' ? [true, false] : undefined)
  return list?.filter(value => !values.includes(value))
}
