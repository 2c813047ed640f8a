import { isDeepStrictEqual } from 'node:util'
import type { Instance } from '../domain/instance.ts'
import { isJsonObject, type JsonObject } from '../protocol/json.ts'
import { checkParameters, type ServiceSchemas } from './service-schemas.ts'

/** Forms send every field. One that keeps its value asks for nothing, even if it could not be changed. */
export function withoutEqual(requested: JsonObject | undefined, stored: JsonObject): JsonObject | undefined {
  if (requested === undefined) return undefined
  const changed = Object.entries(requested).filter(([key, value]) => !isDeepStrictEqual(value, stored[key]))
  return changed.length === 0 ? undefined : Object.fromEntries(changed)
}

/** Another plan, or another version, may know other parameters: those that it does not know are left behind. */
export async function movedParameters(
  { create, update }: ServiceSchemas,
  instance: Instance,
  requested: JsonObject | undefined,
): Promise<() => JsonObject> {
  const asked = await checkParameters(update, requested ?? {})
  const properties = create?.jsonSchema.properties
  const isClosed = create?.jsonSchema.additionalProperties === false && isJsonObject(properties)
  const kept = Object.entries(instance.parameters).filter(([key]) => !isClosed || Object.hasOwn(properties, key))
  const whole = await checkParameters(create, { ...Object.fromEntries(kept), ...requested })
  return () => {
    asked()
    return whole()
  }
}

/**
 * An update names the top-level fields it changes; the others stay. Without an update schema of its own, what the update
 * leads to has to satisfy the create schema: that of the plan it leads to, also where only the plan changes.
 */
export async function mergedParameters(
  { update, updateDerived, create }: ServiceSchemas,
  instance: Instance,
  requested: JsonObject | undefined,
  changesPlan: boolean,
): Promise<() => JsonObject> {
  if (requested === undefined)
    return changesPlan && updateDerived ? checkParameters(create, instance.parameters) : () => instance.parameters
  const asked = await checkParameters(update, requested)
  const whole = await checkParameters(updateDerived ? create : undefined, { ...instance.parameters, ...requested })
  return () => {
    const values = asked()
    return updateDerived ? whole() : { ...instance.parameters, ...values }
  }
}
