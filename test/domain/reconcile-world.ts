import { type CatalogState, catalogOf } from '../../src/domain/catalog-state.ts'
import { type Reconciled, reconcile } from '../../src/domain/reconcile.ts'
import type { ReconcileSettings, RegistryReply, SeenBundle } from '../../src/domain/registry-reply.ts'
import type { Offering } from '../../src/protocol/offering.ts'
import { applyCatalogChanges } from './apply-catalog-changes.ts'

export const hour = 3_600_000
export const defaults: ReconcileSettings = { retireAfter: 24 * hour, emptyAfter: 1 }

export interface BundleOptions {
  readonly version?: number
  readonly tag?: string
  /** What the registry calls it, where that is not the spec's name. */
  readonly as?: string
  /** For a collision of two registries, whose names alone would keep them apart. */
  readonly fullName?: string
}

export function bundle(registry: string, name: string, options: BundleOptions = {}): SeenBundle {
  const { version = 1, tag = 'latest', as = name, fullName = `${registry}-${name}` } = options
  return {
    ...found(as, version, tag),
    parsed: {
      fullName,
      serviceId: serviceIdOf(fullName),
      bundleVersion: `${version}.0.0`,
      offering: offering(fullName),
    },
  }
}

export function unreadable(name: string, problem = 'plans: a plan needs a name'): SeenBundle {
  return { ...found(name, 99, 'latest'), problems: [problem] }
}

export function serviceIdOf(fullName: string): string {
  return `id-of-${fullName}`
}

export const complete = (...seen: SeenBundle[]): RegistryReply => ({ kind: 'complete', found: seen, problems: [] })
export const partial = (...seen: SeenBundle[]): RegistryReply => ({
  kind: 'partial',
  found: seen,
  problems: ['team/broken: the manifest cannot be read'],
})
export const failed: RegistryReply = { kind: 'failed', problem: 'connect ECONNREFUSED' }

export type World = ReturnType<typeof createWorld>

/** A broker's catalog and its instances; every sync is applied. */
export function createWorld(settings: ReconcileSettings = defaults) {
  let state: CatalogState = { registries: [], services: [], revisions: [] }
  let now = 1_000_000
  const pins = new Map<string, string>()

  const uses = (): Map<string, number> => {
    const counts = new Map<string, number>()
    for (const revisionId of pins.values()) counts.set(revisionId, (counts.get(revisionId) ?? 0) + 1)
    return counts
  }
  const registriesOf = (answers: Readonly<Record<string, RegistryReply | undefined>>) =>
    Object.entries(answers).map(([name, answer]) => ({ name, answer }))

  return {
    /** The registries in the configuration's order; undefined is one that is not asked. */
    sync(answers: Readonly<Record<string, RegistryReply | undefined>>): Reconciled {
      const result = reconcile({ now, registries: registriesOf(answers), stored: state, uses: uses(), settings })
      state = applyCatalogChanges(state, result.changes)
      return result
    },
    /** What the same sync would do now, without doing it. */
    preview: (answers: Readonly<Record<string, RegistryReply | undefined>>): Reconciled =>
      reconcile({ now, registries: registriesOf(answers), stored: state, uses: uses(), settings }),
    wait(ms: number): void {
      now += ms
    },
    provision(instanceId: string, fullName: string): void {
      const service = state.services.find(({ serviceId }) => serviceId === serviceIdOf(fullName))
      if (service === undefined) throw new Error(`${fullName} is not known`)
      pins.set(instanceId, service.revisionId)
    },
    deprovision: (instanceId: string): boolean => pins.delete(instanceId),
    names: (): string[] => catalogOf(state).map(({ fullName }) => fullName),
    service: (fullName: string) => state.services.find(({ serviceId }) => serviceId === serviceIdOf(fullName)),
    current(fullName: string) {
      const revisionId = this.service(fullName)?.revisionId
      return state.revisions.find(({ id }) => id === revisionId)
    },
    registry: (name: string) => state.registries.find(registry => registry.name === name),
    uses,
    pins,
    settings,
    get state(): CatalogState {
      return state
    },
    get now(): number {
      return now
    },
  }
}

/** Whether the catalog, and what is stored of it, stays as it is; a registry's row may still say when it answered. */
export function changesCatalog({ changes }: Reconciled): boolean {
  const { insertRevisions, putServices, deleteServices, deleteRevisions } = changes
  return insertRevisions.length + putServices.length + deleteServices.length + deleteRevisions.length > 0
}

function offering(fullName: string): Offering {
  const plan = { id: `${serviceIdOf(fullName)}-plan`, name: 'default', description: 'The plan' }
  return { id: serviceIdOf(fullName), name: fullName, description: fullName, bindable: true, plans: [plan] }
}

function found(name: string, version: number, tag: string): Omit<SeenBundle, 'parsed' | 'problems'> {
  return {
    name,
    image: `registry.example/${name}:${tag}`,
    tag,
    digest: `sha256:${name}-${version}`,
    source: `name: ${name}\nbundleVersion: ${version}.0.0\n`,
    runtime: 2,
  }
}
