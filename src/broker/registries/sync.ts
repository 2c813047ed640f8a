import type { RegistryState } from '../../domain/catalog-state.ts'
import { type PinCheck, pinsToCheck } from '../../domain/pinned-images.ts'
import { reconcile } from '../../domain/reconcile.ts'
import type { ReconcileReport } from '../../domain/reconcile-report.ts'
import type { ReconcileSettings, RegistryReply } from '../../domain/registry-reply.ts'
import type { ChoreRun } from '../../engine/chore-run.ts'
import type { StoredCatalog } from '../../marketplace.ts'
import type { Observer } from '../../observer.ts'
import type { JsonObject } from '../../protocol/json.ts'
import type { Registry, RegistryAnswer } from '../../registry.ts'
import { count } from '../../shape/count.ts'
import type { BrokerContext } from '../context.ts'
import { countUses } from './delete-unused-revisions.ts'
import { createKnown, readReply } from './read-reply.ts'
import type { RegisteredCatalog } from './registered-catalog.ts'

export interface SyncParts {
  readonly registered: RegisteredCatalog
  readonly registries: readonly Registry[]
  /** The names of registries that nobody can ask: what they offer stays as it is until it is changed by hand. */
  readonly unasked?: readonly string[]
  readonly settings: ReconcileSettings
  /** Told how many bundles the registries of a sync have listed, usable or not. */
  readonly onListed?: (bundles: number) => void
}

/**
 * Asks every registry and writes what has changed. It runs as a chore: one run at a time over all replicas, and a run that
 * is held up finds that the catalog has another version by now, and looks again.
 */
export async function syncRegistries(
  broker: BrokerContext,
  parts: SyncParts,
  { signal }: ChoreRun,
): Promise<string | undefined> {
  const { registered, registries } = parts
  const reports: ReconcileReport[] = []
  const failed: string[] = []
  let listed = 0
  const write = createAnswerWriter(broker, parts, signal)
  // None waits for another one: a registry that does not answer takes its time.
  for await (const { registry, answer } of answersAsTheyCome(registries, signal)) {
    if (registry?.failOnError === true && answer?.kind === 'failed') failed.push(registry.name)
    if (answer !== undefined && answer.kind !== 'failed') listed += answer.found.length
    reports.push(await write(registry?.name, () => answer, { before: reports, pinned: registry }))
    await registered.refresh()
  }
  parts.onListed?.(listed)
  if (failed.length > 0) throw new Error(`fail_on_error: ${failed.join(', ')} did not answer`)
  return summaryOf(joined(reports))
}

interface WriteOptions {
  /** Told with it: what was changed just before. */
  readonly before?: readonly ReconcileReport[]
  /** Throws where the answer must not be written. */
  readonly check?: (reply: RegistryReply) => void
  /** Asked for the images that instances need and its answer does not have. */
  readonly pinned?: Registry
}

/** Writes answers of registries. `answerFor` sees the catalog that its answer will change, however often others were faster. */
export function createAnswerWriter(
  { store, services, observer }: BrokerContext,
  { registered, registries, unasked = [], settings }: SyncParts,
  signal: AbortSignal,
) {
  const names = [...registries.map(({ name }) => name), ...unasked]
  let stored: StoredCatalog = { version: -1, services: [], revisions: [] }

  async function checkPins(registry: Registry, answer: RegistryAnswer | undefined): Promise<PinCheck | undefined> {
    if (registry.findImages === undefined || answer === undefined || answer.kind === 'failed') return undefined
    stored = (await store.catalog(stored.version)) ?? stored
    const [{ registries: states }, uses] = await Promise.all([store.registries(), store.revisionUses()])
    const facts = { ...stored, registry: registry.name, uses: countUses(uses), found: answer.found }
    const before = states.find(({ name }) => name === registry.name)
    const images = pinsToCheck(facts, before?.pinsCheckedTo, pinsPerSync)
    if (images.length === 0) return undefined
    return { ...(await registry.findImages(images, signal)), upTo: images.at(-1) }
  }

  return async function write(
    name: string | undefined,
    answerFor: (stored: StoredCatalog) => RegistryAnswer | undefined,
    { before = [], check, pinned }: WriteOptions = {},
  ): Promise<ReconcileReport> {
    const pins = pinned && (await checkPins(pinned, answerFor(stored)))
    while (true) {
      signal.throwIfAborted()
      // With thousands of services, and many registries, most find it as it was.
      stored = (await store.catalog(stored.version)) ?? stored
      const [{ now, registries: states }, uses] = await Promise.all([store.registries(), store.revisionUses()])
      const known = createKnown({ stored, uses, own: services.own, specs: registered.specs })
      const answer = answerFor(stored)
      const reply = name === undefined || answer === undefined ? undefined : await readReply(name, answer, known)
      if (reply !== undefined) check?.(reply)
      signal.throwIfAborted()
      const { changes, report } = reconcile({
        now,
        registries: names.map(one => (one === name && reply ? { name, answer: reply, pins } : { name: one })),
        stored: { ...stored, registries: states },
        uses: countUses(uses),
        settings,
      })
      const shown: JsonObject = JSON.parse(JSON.stringify(joined([...before, report])))
      if (await store.changeCatalog(stored.version, changes, shown)) {
        reportRegistryChanges(states, changes.putRegistries, observer)
        for (const { fullName: service, registry, reason } of report.retired)
          observer['service.retired']?.({ service, registry, reason })
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

/** Of each registry; where there are more, the next sync goes on with them. */
const pinsPerSync = 100

const changeKinds = ['added', 'updated', 'retired', 'returned', 'deleted'] as const

function joined(reports: readonly ReconcileReport[]): ReconcileReport {
  const kinds = [...changeKinds, 'collisions', 'problems', 'warnings', 'vanished'] as const
  const all = kinds.map(kind => [kind, reports.flatMap((report): readonly unknown[] => report[kind])])
  return Object.fromEntries(all)
}

function summaryOf(report: ReconcileReport): string | undefined {
  const parts = changeKinds.filter(kind => report[kind].length > 0).map(kind => `${report[kind].length} ${kind}`)
  if (report.collisions.length > 0) parts.push(count(report.collisions.length, 'collision'))
  if (report.problems.length > 0) parts.push(count(report.problems.length, 'problem'))
  if (report.warnings.length > 0) parts.push(count(report.warnings.length, 'warning'))
  if (report.vanished.length > 0) parts.push(count(report.vanished.length, 'vanished image'))
  return parts.join(', ') || undefined
}

/** Tells operators once when a registry stops answering, answers again, or has new problems. */
function reportRegistryChanges(
  before: readonly RegistryState[],
  after: readonly RegistryState[],
  observer: Observer,
): void {
  for (const state of after) {
    const { name: registry, failures, lastProblem, problems = [], warnings = [], vanished = [] } = state
    const known = before.find(({ name }) => name === registry)
    const hadFailed = (known?.failures ?? 0) > 0
    if (failures > 0 && !hadFailed) observer['registry.unavailable']?.({ registry, problem: lastProblem })
    if (failures === 0 && hadFailed) observer['registry.available']?.({ registry })
    for (const problem of problems)
      if (known?.problems?.includes(problem) !== true) observer['registry.problem']?.({ registry, problem })
    for (const problem of warnings)
      if (known?.warnings?.includes(problem) !== true) observer['registry.warning']?.({ registry, problem })
    for (const { image, service, instances } of vanished)
      if (known?.vanished?.some(one => one.image === image) !== true)
        observer['image.vanished']?.({ registry, image, service, instances })
  }
}
