import { compareText, groupBy, type RegisteredService, type RegistryState } from '../../domain/catalog-state.ts'
import type { Revision } from '../../domain/revision.ts'
import type { Marketplace } from '../../marketplace.ts'
import type { JsonObject } from '../../protocol/json.ts'
import { countUses } from './delete-unused-revisions.ts'

/** What operators see of the registries. Times are the store's. */
export interface RegistriesStatus {
  readonly registries: readonly RegistryStatus[]
  /** Every service that came from one, the retired ones included, by name. */
  readonly services: readonly ServiceStatus[]
  readonly lastChange?: { readonly at: number; readonly report: JsonObject }
}

export interface RegistryStatus {
  readonly name: string
  /** Absent: it is not configured any more. */
  readonly type?: string
  /** Absent: it has not been asked yet. */
  readonly state?: RegistryState
}

export interface ServiceStatus extends RegisteredService {
  /** What the catalog names it. */
  readonly name: string
  /** What new instances are provisioned with; absent where it is not stored. */
  readonly revision?: Revision
  /** How many instances are pinned to which revision, the newest first. */
  readonly instances: readonly {
    readonly revisionId: string
    readonly bundleVersion?: string
    readonly count: number
  }[]
}

/** `configured`: the registries of this broker, in the order of its configuration. */
export async function listRegistries(
  store: Marketplace,
  configured: readonly { readonly name: string; readonly type: string }[],
): Promise<RegistriesStatus> {
  const [stored, { registries: states, lastChange }, uses] = await Promise.all([
    store.catalog(),
    store.registries(),
    store.revisionUses(),
  ])
  const counts = countUses(uses)
  const revisions = groupBy(stored?.revisions ?? [], ({ serviceId }) => serviceId)
  const others = states.filter(state => !configured.some(({ name }) => name === state.name))
  return {
    registries: [
      ...configured.map(({ name, type }) => ({ name, type, state: states.find(state => state.name === name) })),
      ...others.map(state => ({ name: state.name, state })),
    ],
    services: (stored?.services ?? [])
      .map(service => toServiceStatus(service, revisions.get(service.serviceId) ?? [], counts))
      .sort((a, b) => compareText(a.name, b.name)),
    lastChange,
  }
}

function toServiceStatus(
  service: RegisteredService,
  own: readonly Revision[],
  counts: ReadonlyMap<string, number>,
): ServiceStatus {
  const revision = own.find(({ id }) => id === service.revisionId)
  return {
    ...service,
    name: revision?.fullName ?? own[0]?.fullName ?? service.serviceId,
    revision,
    instances: own
      .toSorted((a, b) => b.firstSeenAt - a.firstSeenAt || compareText(a.id, b.id))
      .map(({ id, bundleVersion }) => ({ revisionId: id, bundleVersion, count: counts.get(id) ?? 0 }))
      .filter(({ count }) => count > 0),
  }
}
