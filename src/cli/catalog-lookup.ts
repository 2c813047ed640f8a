import type { WireOffering, WirePlan } from '../client/index.ts'
import { isJsonObject } from '../protocol/json.ts'
import { failure, wrongUsage } from './cli-error.ts'
import { refusal } from './refusal.ts'
import type { Session } from './session.ts'

export async function readCatalog(session: Session): Promise<readonly WireOffering[]> {
  const response = await session.client.catalog()
  if (response.status !== 200) throw refusal('could not read the catalog', response)
  const { services } = response.body
  if (!Array.isArray(services) || !services.every(service => isJsonObject(service) && Array.isArray(service.plans))) {
    throw failure({
      what: 'could not read the catalog',
      why: 'the answer is not a catalog: it has no list of services with plans',
      next: 'Check that the address is that of an Open Service Broker.',
    })
  }
  return services
}

/** By id, else by name (CAT-03, CAT-13). */
export function findOffering(offerings: readonly WireOffering[], wanted: string): WireOffering | undefined {
  return offerings.find(({ id }) => id === wanted) ?? offerings.find(({ name }) => name === wanted)
}

export function findPlan(offering: WireOffering | undefined, wanted: string): WirePlan | undefined {
  return offering?.plans.find(({ id }) => id === wanted) ?? offering?.plans.find(({ name }) => name === wanted)
}

export function requireOffering(offerings: readonly WireOffering[], wanted: string): WireOffering {
  const offering = findOffering(offerings, wanted)
  if (offering !== undefined) return offering
  throw wrongUsage({
    what: `there is no service "${wanted}"`,
    why: `the broker offers ${listNames(offerings)}`,
    next: 'purser catalog shows services and plans; give a name or an id.',
  })
}

export function requirePlan(offering: WireOffering, wanted: string): WirePlan {
  const plan = findPlan(offering, wanted)
  if (plan !== undefined) return plan
  throw wrongUsage({
    what: `service "${offering.name}" has no plan "${wanted}"`,
    why: `its plans are ${listNames(offering.plans)}`,
    next: 'purser catalog shows services and plans; give a name or an id.',
  })
}

function listNames(things: readonly { readonly name: string }[]): string {
  if (things.length === 0) return 'nothing'
  const more = things.length > 10 ? ` and ${things.length - 10} more` : ''
  return `${things
    .slice(0, 10)
    .map(({ name }) => name)
    .join(', ')}${more}`
}
