import type { OsbResponse, WireCatalog, WireOffering, WirePlan } from '../client/index.ts'
import { isJsonObject } from '../protocol/json.ts'
import { failure, wrongUsage } from './cli-error.ts'
import { refusal } from './refusal.ts'
import type { Session } from './session.ts'

export async function readCatalog({ client }: Session): Promise<readonly WireOffering[]> {
  return offeringsOf(await client.catalog())
}

/** For operators, whose credentials may not be those of a platform. */
export async function readAdminCatalog({ admin }: Session): Promise<readonly WireOffering[]> {
  return offeringsOf(await admin.catalog())
}

function offeringsOf(response: OsbResponse<Partial<WireCatalog>>): readonly WireOffering[] {
  if (response.status !== 200) throw refusal('could not read the catalog', response)
  const { services } = response.body
  if (!Array.isArray(services) || !services.every(service => isJsonObject(service) && Array.isArray(service.plans)))
    throw failure({
      what: 'could not read the catalog',
      why: 'the answer is not a catalog: it has no list of services with plans',
      next: 'Check that the address is that of an Open Service Broker.',
    })
  return services
}

type Named = Pick<WirePlan, 'id' | 'name'>

/** A service or a plan by id, else by name (CAT-03, CAT-13). */
export function find<Thing extends Named>(things: readonly Thing[] = [], wanted?: string): Thing | undefined {
  if (wanted === undefined) return undefined
  return things.find(({ id }) => id === wanted) ?? things.find(({ name }) => name === wanted)
}

export function requireOffering(offerings: readonly WireOffering[], wanted: string): WireOffering {
  const offering = find(offerings, wanted)
  if (offering !== undefined) return offering
  throw unknown(`there is no service "${wanted}"`, `the broker offers ${listNames(offerings)}`)
}

export function requirePlan({ name, plans }: WireOffering, wanted: string): WirePlan {
  const plan = find(plans, wanted)
  if (plan !== undefined) return plan
  throw unknown(`service "${name}" has no plan "${wanted}"`, `its plans are ${listNames(plans)}`)
}

function unknown(what: string, why: string) {
  return wrongUsage({ what, why, next: 'purser catalog shows services and plans; give a name or an id.' })
}

function listNames(things: readonly Named[]): string {
  if (things.length === 0) return 'nothing'
  const names = things.slice(0, 10).map(({ name }) => name)
  const more = things.length > 10 ? ` and ${things.length - 10} more` : ''
  return `${names.join(', ')}${more}`
}
