import { reconcile } from '../../domain/reconcile.ts'
import type { ReconcileReport } from '../../domain/reconcile-report.ts'
import type { ReconcileSettings } from '../../domain/registry-reply.ts'
import type { ChoreRun } from '../../engine/chore-run.ts'
import type { StoredCatalog } from '../../marketplace.ts'
import type { JsonObject } from '../../protocol/json.ts'
import type { Registry, RegistryAnswer } from '../../registry.ts'
import type { BrokerContext } from '../context.ts'
import { countUses } from './delete-unused-revisions.ts'
import { createKnown, readReply } from './read-reply.ts'
import type { RegisteredCatalog } from './registered-catalog.ts'
import { reportRegistryChanges } from './report-registry-changes.ts'

export interface SyncParts {
  readonly registered: RegisteredCatalog
  readonly registries: readonly Registry[]
  readonly settings: ReconcileSettings
}

/**
 * Asks every registry and writes what has changed. It runs as a chore: one run at a time over all replicas, and a run that
 * is held up finds that the catalog has another version by now, and looks again.
 */
export async function syncRegistries(
  { store, services, observer }: BrokerContext,
  { registered, registries, settings }: SyncParts,
  { signal }: ChoreRun,
): Promise<string | undefined> {
  const reports: ReconcileReport[] = []
  const failed: string[] = []
  let stored: StoredCatalog = { version: -1, services: [], revisions: [] }
  // None waits for another one: a registry that does not answer takes its time.
  for await (const { registry, answer } of answersAsTheyCome(registries, signal)) {
    if (registry?.failOnError === true && answer?.kind === 'failed') failed.push(registry.name)
    reports.push(await write(registry?.name, answer))
    await registered.refresh()
  }
  if (failed.length > 0) throw new Error(`fail_on_error: ${failed.join(', ')} did not answer`)
  return summaryOf(joined(reports))

  async function write(name: string | undefined, answer: RegistryAnswer | undefined): Promise<ReconcileReport> {
    while (true) {
      signal.throwIfAborted()
      // With thousands of services, and many registries, most find it as it was.
      stored = (await store.catalog(stored.version)) ?? stored
      const [{ now, registries: states }, uses] = await Promise.all([store.registries(), store.revisionUses()])
      const known = createKnown({ stored, uses, own: services.own, specs: registered.specs })
      const reply = name === undefined || answer === undefined ? undefined : await readReply(name, answer, known)
      signal.throwIfAborted()
      const { changes, report } = reconcile({
        now,
        registries: registries.map(one => (one.name === name && reply ? { name, answer: reply } : { name: one.name })),
        stored: { ...stored, registries: states },
        uses: countUses(uses),
        settings,
      })
      if (await store.changeCatalog(stored.version, changes, toJson(joined([...reports, report])))) {
        reportRegistryChanges(states, changes.putRegistries, observer)
        return report
      }
    }
  }
}

interface Answered {
  readonly registry?: Registry
  readonly answer?: RegistryAnswer
}

/**
 * Every registry with its answer, fastest first. Without any registry it yields once, so that services of registries that
 * left the configuration are retired.
 */
async function* answersAsTheyCome(registries: readonly Registry[], signal: AbortSignal): AsyncGenerator<Answered> {
  if (registries.length === 0) yield {}
  const waiting = new Map(
    registries.map(registry => [
      registry.name,
      registry.list(signal).then((answer): Answered => ({ registry, answer })),
    ]),
  )
  while (waiting.size > 0) {
    const next = await Promise.race(waiting.values())
    waiting.delete(next.registry?.name ?? '')
    yield next
  }
}

function joined(reports: readonly ReconcileReport[]): ReconcileReport {
  return {
    added: reports.flatMap(({ added }) => added),
    updated: reports.flatMap(({ updated }) => updated),
    retired: reports.flatMap(({ retired }) => retired),
    returned: reports.flatMap(({ returned }) => returned),
    deleted: reports.flatMap(({ deleted }) => deleted),
    collisions: reports.flatMap(({ collisions }) => collisions),
    problems: reports.flatMap(({ problems }) => problems),
  }
}

function summaryOf(report: ReconcileReport): string | undefined {
  const counts = [
    ...(['added', 'updated', 'retired', 'returned', 'deleted'] as const).map(
      kind => [report[kind].length, kind] as const,
    ),
    [report.collisions.length, report.collisions.length === 1 ? 'collision' : 'collisions'] as const,
    [report.problems.length, report.problems.length === 1 ? 'problem' : 'problems'] as const,
  ].filter(([count]) => count > 0)
  return counts.length === 0 ? undefined : counts.map(([count, what]) => `${count} ${what}`).join(', ')
}

/** As it is kept and shown: plain JSON. */
function toJson(report: ReconcileReport): JsonObject {
  return JSON.parse(JSON.stringify(report))
}
