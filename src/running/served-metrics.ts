import type { BrokerContext } from '../broker/context.ts'
import type { Snapshot } from '../broker/survey.ts'
import { type Clock, sleep } from '../clock.ts'
import { foldServices } from '../domain/fold-services.ts'
import type { RunningChores } from '../engine/chores.ts'
import type { Worker } from '../engine/worker.ts'
import type { ServedMetrics } from '../http/metrics.ts'
import { createMetrics, type LedgerReading, type NamedPlan, type Readings } from '../observer/metrics/metrics.ts'
import type { Observer } from '../observer.ts'
import type { Offering } from '../protocol/offering.ts'
import type { ReadSettings } from '../settings/settings.ts'
import type { Store } from '../store.ts'

/** What metrics read of a running broker. */
export interface MetricSources {
  readonly broker: BrokerContext
  readonly worker: Worker
  readonly chores: RunningChores
}

export interface OpenedMetrics extends ServedMetrics {
  readonly observer: Observer
  /** From here on a scrape finds the gauges, too. */
  follow(sources: MetricSources): void
}

/** A scrape that comes sooner gets what the one before it has read of the ledger. */
const goodFor = 5_000
/** How long a scrape waits for the ledger. Prometheus gives up after 10 seconds. */
const patience = 2_000

/** Undefined where nobody may read metrics: then nothing listens, and nothing is counted. */
export function openMetrics(settings: ReadSettings['metrics'], store: Store, clock: Clock): OpenedMetrics | undefined {
  if (settings.serve === 'off') return undefined
  let sources: MetricSources | undefined
  let known: LedgerReadings = { chores: [], registries: [] }
  let readAt = Number.NEGATIVE_INFINITY
  // By the store's clock. What is not known of the time before counts from here, so that an alert has something to wait for.
  let startedAt = 0

  async function readLedger({ broker, chores }: MetricSources): Promise<void> {
    const [surveys, statuses, registries] = await Promise.all([
      broker.store.bulletins('survey'),
      chores.list(),
      broker.registered === undefined ? undefined : broker.store.registries(),
    ])
    const snapshot = surveys.bulletins[0]?.doc as unknown as Snapshot | undefined
    known = {
      ledger: snapshot && toReading(snapshot),
      chores: statuses.map(({ name, schedule, nextAt, latest }) => {
        const before = known.chores.find(chore => chore.name === name)?.lastSuccessAt
        const after = nextAt === undefined ? undefined : schedule?.next(nextAt)
        const intervalMs = nextAt === undefined || after === undefined ? undefined : after - nextAt
        const first = intervalMs === undefined ? undefined : startedAt
        return { name, lastSuccessAt: latest?.result?.ok === true ? latest.finishedAt : (before ?? first), intervalMs }
      }),
      registries: (registries?.registries ?? []).map(({ name, failures, lastCompleteAt = startedAt }) => {
        return { name, up: failures === 0, lastCompleteAt }
      }),
    }
    readAt = clock.now()
  }

  async function read(): Promise<Readings> {
    if (sources === undefined) return { ...known, slots: { used: 0, free: 0 }, skewMs: 0 }
    const { broker, worker } = sources
    // A store that does not answer leaves what was known before: how old that is, the time of the survey tells.
    if (clock.now() - readAt >= goodFor)
      await Promise.race([readLedger(sources).catch(() => {}), sleep(clock, patience)])
    const { slots, used } = worker.load
    return {
      ...known,
      slots: { used, free: Math.max(0, slots - used) },
      skewMs: broker.storeNow() - broker.clock.now(),
    }
  }

  const system = store.name.split(':')[0] ?? ''
  const nameOf = createNames(() => sources?.broker.services.offerings ?? [])
  return {
    ...createMetrics({ system, nameOf, read }),
    open: settings.serve === 'open',
    follow(running) {
      sources = running
      startedAt = running.broker.storeNow()
    },
  }
}

type LedgerReadings = Pick<Readings, 'ledger' | 'chores' | 'registries'>

/** Bounded here and not where it is counted: operators see all services in `/admin/stats`. */
function toReading({ now, active, ended, instances, bindings, revisions }: Snapshot): LedgerReading {
  return {
    takenAt: now,
    active,
    ended,
    ...foldServices({
      instances: instances.map(({ instances: rows, ...count }) => ({ ...count, rows })),
      bindings: bindings.map(({ bindings: rows, ...count }) => ({ ...count, rows })),
      revisions: revisions.flatMap(({ serviceId, instances: counts }) =>
        (['current', 'behind', 'retired'] as const).map(position => ({ serviceId, position, rows: counts[position] })),
      ),
    }),
  }
}

/** The names of the catalog, which is a new list whenever it has changed. */
function createNames(offeringsNow: () => readonly Offering[]): (serviceId: string, planId: string) => NamedPlan {
  let offerings: readonly Offering[] | undefined
  let services = new Map<string, { readonly name: string; readonly plans: ReadonlyMap<string, string> }>()
  return (serviceId, planId) => {
    const current = offeringsNow()
    if (current !== offerings) {
      offerings = current
      services = new Map(
        current.map(({ id, name, plans }) => [id, { name, plans: new Map(plans.map(plan => [plan.id, plan.name])) }]),
      )
    }
    const found = services.get(serviceId)
    return { service: found?.name, plan: found?.plans.get(planId) }
  }
}
