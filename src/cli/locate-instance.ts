import type { FetchedInstance, WireOffering, WirePlan } from '../client/index.ts'
import { findOffering, findPlan, readCatalog } from './catalog-lookup.ts'
import { wrongUsage } from './cli-error.ts'
import { memoryFile, type RememberedInstance } from './memory.ts'
import type { Session } from './session.ts'

/** What the OSB API wants with every change of an existing instance. */
export interface Located {
  readonly serviceId: string
  readonly planId: string
  /** Undefined where the catalog no longer has it. */
  readonly offering: WireOffering | undefined
  readonly plan: WirePlan | undefined
}

export interface LocateFlags {
  readonly service?: string
  readonly plan?: string
}

/** Service and plan of an instance: from the flags, from the broker where it can be asked, from this command's memory. */
export async function locateInstance(session: Session, instanceId: string, flags: LocateFlags): Promise<Located> {
  const catalog = await readCatalog(session)
  const { serviceId, planId } = await collectIds(session, catalog, instanceId, flags)
  if (serviceId === undefined || planId === undefined) throw unknownIds(instanceId, '--service and --plan')
  return toLocated(catalog, serviceId, planId)
}

/** As locateInstance, where the plan is good to know but not needed: an update names only its target plan. */
export async function locateForUpdate(
  session: Session,
  instanceId: string,
  service: string | undefined,
): Promise<Omit<Located, 'planId'> & { readonly planId: string | undefined }> {
  const catalog = await readCatalog(session)
  const { serviceId, planId } = await collectIds(session, catalog, instanceId, { service })
  if (serviceId === undefined) throw unknownIds(instanceId, '--service')
  return { ...toLocated(catalog, serviceId, planId ?? ''), planId }
}

async function collectIds(
  session: Session,
  catalog: readonly WireOffering[],
  instanceId: string,
  flags: LocateFlags,
): Promise<{ serviceId: string | undefined; planId: string | undefined }> {
  // What the catalog does not have may be the id of a retired service or plan: the broker decides.
  const offering = flags.service === undefined ? undefined : findOffering(catalog, flags.service)
  const serviceFlag = offering?.id ?? flags.service
  if (serviceFlag !== undefined && flags.plan !== undefined) {
    return { serviceId: serviceFlag, planId: findPlan(offering, flags.plan)?.id ?? flags.plan }
  }
  const known = await session.memory.recall(instanceId)
  const fetched = isRetrievable(catalog, serviceFlag, known) ? await fetchIds(session, instanceId) : {}
  const serviceId = serviceFlag ?? fetched.service_id ?? known?.service_id
  if (flags.plan === undefined) return { serviceId, planId: fetched.plan_id ?? known?.plan_id }
  const plan = serviceId === undefined ? undefined : findPlan(findOffering(catalog, serviceId), flags.plan)
  return { serviceId, planId: plan?.id ?? flags.plan }
}

/** GETI-02: an instance of another service must not be asked for; one of an unknown service may be. */
function isRetrievable(
  catalog: readonly WireOffering[],
  serviceFlag: string | undefined,
  known: RememberedInstance | undefined,
): boolean {
  const serviceId = serviceFlag ?? known?.service_id
  return catalog.some(
    offering => (serviceId === undefined || offering.id === serviceId) && offering.instances_retrievable === true,
  )
}

async function fetchIds(session: Session, instanceId: string): Promise<FetchedInstance> {
  const response = await session.client.fetchInstance(instanceId)
  return response.status === 200 ? response.body : {}
}

function toLocated(catalog: readonly WireOffering[], serviceId: string, planId: string): Located {
  const offering = findOffering(catalog, serviceId)
  return { serviceId, planId, offering, plan: findPlan(offering, planId) }
}

function unknownIds(instanceId: string, flags: string) {
  return wrongUsage({
    what: `the service and plan of instance ${instanceId} are not known`,
    why: `the broker does not tell them, and ${memoryFile} in this folder does not know the instance`,
    next: `Give ${flags}, each a name or an id.`,
  })
}
