import type { FetchQuery, WireOffering } from '../client/index.ts'
import { find, readCatalog } from './catalog-lookup.ts'
import { wrongUsage } from './cli-error.ts'
import { memoryFile } from './memory.ts'
import type { Session } from './session.ts'

export interface LocateFlags {
  readonly service?: string
  readonly plan?: string
}

/** Service and plan of an instance: from the flags, from the broker where it can be asked, from this command's memory. */
export async function locateInstance(session: Session, instanceId: string, flags: LocateFlags) {
  const { ids, plan } = await locate(session, instanceId, flags)
  const { service_id, plan_id } = ids
  if (service_id === undefined || plan_id === undefined) throw unknownIds(instanceId, '--service and --plan')
  return { ids: { service_id, plan_id }, plan }
}

/** The ids as far as they are known; offering and plan are undefined where the catalog no longer has them. */
export async function locate(session: Session, instanceId: string, flags: LocateFlags) {
  const catalog = await readCatalog(session)
  // What the catalog does not have may be the id of a retired service or plan: the broker decides.
  const serviceFlag = find(catalog, flags.service)?.id ?? flags.service
  const isTold = serviceFlag !== undefined && flags.plan !== undefined
  const known: FetchQuery = isTold ? {} : await findIds(session, catalog, instanceId, serviceFlag)
  const serviceId = serviceFlag ?? known.service_id
  const offering = find(catalog, serviceId)
  const plan = find(offering?.plans, flags.plan ?? known.plan_id)
  const planId = flags.plan === undefined ? known.plan_id : (plan?.id ?? flags.plan)
  return { ids: { service_id: serviceId, plan_id: planId }, offering, plan }
}

async function findIds({ client, memory }: Session, catalog: readonly WireOffering[], id: string, service?: string) {
  const known = await memory.recall(id)
  const serviceId = service ?? known?.service_id
  // GETI-02: an instance of another service must not be asked for; one of an unknown service may be.
  const candidates = serviceId === undefined ? catalog : catalog.filter(offering => offering.id === serviceId)
  const isRetrievable = candidates.some(offering => offering.instances_retrievable === true)
  const response = isRetrievable ? await client.fetchInstance(id) : undefined
  const fetched = response?.status === 200 ? response.body : {}
  return { service_id: fetched.service_id ?? known?.service_id, plan_id: fetched.plan_id ?? known?.plan_id }
}

export function unknownIds(instanceId: string, flags: string) {
  return wrongUsage({
    what: `the service and plan of instance ${instanceId} are not known`,
    why: `the broker does not tell them, and ${memoryFile} in this folder does not know the instance`,
    next: `Give ${flags}, each a name or an id.`,
  })
}
