import { hash } from 'node:crypto'
import { type JsonObject, toCanonicalJson } from '../protocol/json.ts'

/** Equal for requests that ask for the same, whatever the order of their keys. */
export function hashRequest(attributes: JsonObject): string {
  return hash('sha256', toCanonicalJson(attributes), 'base64url')
}

/** The part of the context that says where an instance belongs; names and annotations may change under it (PROV-23). */
const identifying = ['platform', 'organization_guid', 'space_guid', 'namespace', 'clusterid']

function placeOf(context: JsonObject): JsonObject {
  return Object.fromEntries(identifying.filter(key => Object.hasOwn(context, key)).map(key => [key, context[key]]))
}

/** What makes two requests for an instance equal (PROV-23). */
export function provisionAttributes(request: {
  readonly serviceId: string
  readonly planId: string
  readonly parameters: JsonObject
  readonly context: JsonObject
}): JsonObject {
  const { serviceId, planId, parameters, context } = request
  return { serviceId, planId, parameters, place: placeOf(context) }
}

/** The same for a binding; a rotation names its predecessor instead. */
export function bindAttributes(request: {
  readonly serviceId: string
  readonly planId: string
  readonly parameters: JsonObject
  readonly bindResource: JsonObject
  readonly appGuid?: string | undefined
}): JsonObject {
  const { serviceId, planId, parameters, bindResource, appGuid } = request
  return { serviceId, planId, parameters, bindResource, appGuid }
}
