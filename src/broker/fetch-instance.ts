import { type Instance, isKnown } from '../domain/instance.ts'
import { isLeft, serviceLeft } from '../domain/left-service.ts'
import { answers } from '../protocol/answers.ts'
import { latestMinor } from '../protocol/api-version.ts'
import { BrokerError } from '../protocol/errors.ts'
import type { JsonObject } from '../protocol/json.ts'
import { readMarked } from '../sensitive/marked.ts'
import { toWire } from '../shape/wire.ts'
import { type BrokerContext, type Caller, toInstanceInfo } from './context.ts'
import { fetchByAuthor } from './fetch-by-author.ts'
import type { ResolvedService } from './resolve-services.ts'
import { secretsOf, withoutMarked } from './service-secrets.ts'

/** GET /v2/service_instances/:instance_id */
export async function fetchInstance(broker: BrokerContext, caller: Caller, instanceId: string): Promise<JsonObject> {
  const instance = await broker.store.instance(instanceId)
  const service = findFetched(broker, caller, instance)
  if (instance === undefined || !isFetchable(instance, caller) || service?.offering.instancesRetrievable !== true)
    throw new BrokerError('InstanceNotFound', 'There is no instance with this id, or it is not there yet.')
  if (instance.phase === 'updating')
    throw new BrokerError('ConcurrencyError', 'The instance is being updated. Repeat the request when that has ended.')
  const { serviceId, planId, dashboardUrl, parameters, maintenanceVersion: version, metadata } = instance
  const maintenanceInfo = version === undefined ? undefined : { version }
  const shown = withoutMarked(parameters, service.sensitive.parameters)
  const fields = { serviceId, planId, dashboardUrl, parameters: shown, maintenanceInfo, metadata }
  const body: JsonObject = toWire(answers.fetchInstance, fields, latestMinor)
  const { fetchInstance: fetched } = service.code
  if (fetched === undefined) return body
  const given = structuredClone({ instance: toInstanceInfo(instance), state: instance.state, body })
  const secrets = () => secretsOf(service.sensitive, { parameters: [parameters] })
  return fetchByAuthor(`fetchInstance of the service "${service.code.id}"`, { secrets, kept: instance.state }, () =>
    fetched({ ...given, state: readMarked(given.state) }),
  )
}

/** An instance that an update has broken is still there; one whose creation failed never was. */
function isFetchable({ platform, phase, created }: Instance, caller: Caller): boolean {
  const there = phase === 'ready' || phase === 'updating' || (phase === 'failed' && created)
  return platform === caller.platform && there
}

/** The service that answers for the instance. Where it is gone the instance is not: a 404 would say so. */
export function findFetched(
  { services, registered }: BrokerContext,
  { platform }: Caller,
  instance: Instance | undefined,
): ResolvedService | undefined {
  if (!isKnown(instance, platform)) return undefined
  const service = services.of(instance)
  if (service === undefined && isLeft(instance, registered === undefined ? 'left' : 'later'))
    throw serviceLeft(instance.serviceId, 'deletion')
  return service
}
