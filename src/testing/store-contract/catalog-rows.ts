/** What the cases about registries are made of. */

import type {
  CatalogChanges,
  Instance,
  RegisteredService,
  RegistryState,
  Revision,
  Store,
  StoredCatalog,
} from '../../store.ts'
import { assert } from './assert.ts'
import { instanceRow, operationRow } from './rows.ts'

export function revisionRow(id: string, serviceId = 'service', overrides: Partial<Revision> = {}): Revision {
  return {
    id,
    serviceId,
    fullName: `registry-${serviceId}`,
    registry: 'registry',
    foundAs: serviceId,
    image: `example/${serviceId}`,
    tag: 'latest',
    digest: `sha256:${id}`,
    source: `name: ${serviceId}\n`,
    runtime: 2,
    offering: {
      id: serviceId,
      name: `registry-${serviceId}`,
      description: 'A service',
      bindable: true,
      plans: [{ id: 'plan', name: 'default', description: 'A plan' }],
    },
    firstSeenAt: 1,
    ...overrides,
  }
}

export function serviceRow(serviceId: string, revisionId: string, retiredAt?: number): RegisteredService {
  return { serviceId, registry: 'registry', revisionId, ...(retiredAt === undefined ? {} : { retiredAt }) }
}

export function registryRow(name: string, overrides: Partial<RegistryState> = {}): RegistryState {
  return { name, checkedAt: 1, failures: 0, ...overrides }
}

export function changesOf(changes: Partial<CatalogChanges>): CatalogChanges {
  return {
    insertRevisions: [],
    putServices: [],
    deleteServices: [],
    deleteRevisions: [],
    putRegistries: [],
    deleteRegistries: [],
    ...changes,
  }
}

export async function catalogIn(store: Store): Promise<StoredCatalog> {
  const catalog = await store.catalog()
  assert.ok(catalog, 'there is always a catalog for those who know none')
  return catalog
}

/** Writes to the catalog as it is now, and insists that this was possible. */
export async function change(store: Store, changes: Partial<CatalogChanges>): Promise<void> {
  const { version } = await catalogIn(store)
  assert.equal(await store.changeCatalog(version, changesOf(changes)), true)
}

/** The ids of what is stored: services, then revisions. */
export async function idsIn(store: Store): Promise<[string[], string[]]> {
  const { services, revisions } = await catalogIn(store)
  return [services.map(({ serviceId }) => serviceId), revisions.map(({ id }) => id)]
}

/** Accepts a provision of an instance that is pinned; its operation is called `<id>:provision`. */
export function pin(store: Store, id: string, pins: Partial<Instance>): Promise<string> {
  return store.accept({ instanceId: id }, () => ({
    answer: id,
    change: { instance: instanceRow(id, pins), operations: [operationRow(`${id}:provision`, id)] },
  }))
}
