import type { Instance } from '../domain/instance.ts'
import { answers } from '../protocol/answers.ts'
import { latestMinor } from '../protocol/api-version.ts'
import { BrokerError } from '../protocol/errors.ts'
import type { JsonObject } from '../protocol/json.ts'
import { toWire } from '../shape/wire.ts'
import { type BrokerContext, type Caller, toInstanceInfo } from './context.ts'

/** GET /v2/service_instances/:instance_id */
export async function fetchInstance(broker: BrokerContext, caller: Caller, instanceId: string): Promise<JsonObject> {
  const instance = await broker.store.instance(instanceId)
  const service = instance === undefined ? undefined : broker.services.of(instance)
  if (instance === undefined || !isFetchable(instance, caller) || service?.offering.instancesRetrievable !== true)
    throw new BrokerError('InstanceNotFound', 'There is no instance with this id, or it is not there yet.')
  if (instance.phase === 'updating')
    throw new BrokerError('ConcurrencyError', 'The instance is being updated. Repeat the request when that has ended.')
  const { serviceId, planId, dashboardUrl, parameters, maintenanceVersion: version, metadata } = instance
  const maintenanceInfo = version === undefined ? undefined : { version }
  const fields = { serviceId, planId, dashboardUrl, parameters, maintenanceInfo, metadata }
  const body: JsonObject = toWire(answers.fetchInstance, fields, latestMinor)
  const { code } = service
  if (code.fetchInstance === undefined) return body
  return code.fetchInstance(structuredClone({ instance: toInstanceInfo(instance), state: instance.state, body }))
}

/** An instance that an update has broken is still there; one whose creation failed never was. */
function isFetchable({ platform, phase, created }: Instance, caller: Caller): boolean {
  const there = phase === 'ready' || phase === 'updating' || (phase === 'failed' && created)
  return platform === caller.platform && there
}
