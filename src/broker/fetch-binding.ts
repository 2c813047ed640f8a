import { BrokerError } from '../protocol/errors.ts'
import type { JsonObject } from '../protocol/json.ts'
import { readMarked } from '../sensitive/marked.ts'
import { type BrokerContext, type Caller, toInstanceInfo } from './context.ts'
import { fetchByAuthor } from './fetch-by-author.ts'
import { findFetched } from './fetch-instance.ts'
import { secretsOf, withoutMarked } from './service-secrets.ts'

/** GET /v2/service_instances/:instance_id/service_bindings/:binding_id */
export async function fetchBinding(
  broker: BrokerContext,
  caller: Caller,
  instanceId: string,
  bindingId: string,
): Promise<JsonObject> {
  const instance = await broker.store.instance(instanceId)
  const service = findFetched(broker, caller, instance)
  const binding = await broker.store.binding(instanceId, bindingId)
  if (
    instance === undefined ||
    instance.platform !== caller.platform ||
    service?.offering.bindingsRetrievable !== true ||
    binding?.phase !== 'ready'
  )
    throw new BrokerError('BindingNotFound', 'There is no binding with this id, or it is not there yet.')
  const parameters = withoutMarked(binding.parameters, service.sensitive.bindParameters)
  const body: JsonObject = { ...binding.result, parameters }
  const { fetchBinding: fetched } = service.code
  if (fetched === undefined) return body
  const [state, bindingState] = [instance.state, binding.state]
  const who = `fetchBinding of the service "${service.code.id}"`
  const given = structuredClone({ instance: toInstanceInfo(instance), state, bindingId, bindingState, body })
  const secrets = () => secretsOf(service.sensitive, { parameters: [instance.parameters], binding })
  return fetchByAuthor(who, { secrets, kept: [state, bindingState] }, () =>
    fetched({ ...given, state: readMarked(given.state), bindingState: readMarked(given.bindingState) }),
  )
}
