import type { BackendItem } from '../../author/backend.ts'
import { type Holding, judgeOrphan, type OrphanJudgement } from '../../domain/judge-orphan.ts'
import { toError } from '../../observer.ts'
import { BrokerError } from '../../protocol/errors.ts'
import type { JsonObject } from '../../protocol/json.ts'
import { type Store, StoreUnavailableError } from '../../store.ts'
import type { BrokerContext } from '../context.ts'
import type { ResolvedService } from '../resolve-services.ts'

/** What a backend and the ledger do not agree on. `missing`: an instance that the ledger has and the backend does not. */
export interface Finding {
  readonly kind: 'orphan' | 'missing'
  readonly serviceId: string
  readonly name: string
  readonly instanceId?: string
  readonly bindingId?: string
  readonly createdAt?: number
  readonly detail?: string
  readonly removable: boolean
  /** Why it is left alone. */
  readonly reason?: string
}

/** A finding with what its removal needs. */
export interface Found extends Finding {
  readonly service: ResolvedService
  readonly state: JsonObject
  readonly judged?: OrphanJudgement
}

export interface OrphanReport<Item extends Finding = Finding> {
  readonly items: readonly Item[]
  /** Services whose backend could be compared, */
  readonly services: readonly string[]
  /** and those whose backend could not: nothing is told of them. */
  readonly failed: readonly FailedList[]
  /** There was more than is told. */
  readonly incomplete: boolean
}

export interface FailedList {
  readonly serviceId: string
  readonly reason: string
}

/** More than that is not told of a service: whoever has removed them looks again. */
const mostOfEach = 1_000

/**
 * Compares what services list with the ledger, both ways. Where the backend of one fails, nothing is told of that one: half of a
 * list would call what is there missing. Where it is the only one, its error is the answer.
 */
export async function findOrphans(broker: BrokerContext, serviceId?: string): Promise<OrphanReport<Found>> {
  const all = listing(broker, serviceId)
  const report = { items: [] as Found[], services: [] as string[], failed: [] as FailedList[], incomplete: false }
  const timeIsUp = AbortSignal.timeout(broker.settings.server.syncTimeout)
  const signal = AbortSignal.any([broker.stopping, timeIsUp])
  for (const service of all) {
    const id = idOf(service)
    try {
      signal.throwIfAborted()
      const { found, isWhole } = await compareOne(broker, service, signal)
      report.items.push(...found)
      report.services.push(id)
      report.incomplete ||= !isWhole
    } catch (error) {
      if (all.length === 1 || broker.stopping.aborted || error instanceof StoreUnavailableError) throw error
      broker.observer['service.notListed']?.({ service: id, error: toError(error) })
      report.failed.push({ serviceId: id, reason: timeIsUp.aborted ? outOfTime : reasonOf(error) })
    }
  }
  return report
}

const outOfTime = 'There was no time left: server.syncTimeout is for all services. Ask for this one alone.'

/** What an author's code says may hold a secret. */
function reasonOf(error: unknown): string {
  return error instanceof BrokerError ? error.message : 'Its list has failed. The log of the broker says how.'
}

async function compareOne(broker: BrokerContext, service: ResolvedService, signal: AbortSignal) {
  const found: Found[] = []
  for await (const each of compare(broker, service, signal)) {
    if (found.length === mostOfEach) return { found, isWhole: false }
    found.push(each)
  }
  return { found, isWhole: true }
}

function listing({ services, registered }: BrokerContext, serviceId: string | undefined): readonly ResolvedService[] {
  const current = (id: string) => services.find(id) ?? registered?.at(registered.service(id)?.revisionId ?? '')
  const wanted = serviceId === undefined ? services.offerings.map(({ id }) => id) : [serviceId]
  const found = wanted.flatMap(id => current(id) ?? []).filter(({ code }) => code.list !== undefined)
  if (serviceId !== undefined && found.length === 0)
    throw new BrokerError('UnknownService', `No service "${serviceId}" of this broker can list its backend.`)
  return found
}

function idOf({ offering }: ResolvedService): string {
  return offering.id
}

async function* compare(
  { store, settings, storeNow }: BrokerContext,
  service: ResolvedService,
  signal: AbortSignal,
): AsyncGenerator<Found> {
  const { minimumAge } = settings.orphans
  const now = storeNow()
  const serviceId = idOf(service)
  const seen = new Set<string>()
  for await (const item of service.code.list?.({ signal }) ?? []) {
    signal.throwIfAborted()
    const { name, instanceId, bindingId, detail, state = {} } = item
    const createdAt = toTime(item)
    if (instanceId !== undefined) seen.add(instanceId)
    const holding = { instanceId, bindingId, createdAt }
    const judged = await judge(store, holding, { now, minimumAge })
    if (judged.kind === 'owned') continue
    const removable = 'removal' in judged
    const reason = 'removal' in judged ? undefined : judged.reason
    yield { kind: 'orphan', serviceId, name, ...holding, detail, removable, reason, service, state, judged }
  }
  if (service.code.emptyInstances) return
  let cursor: string | undefined
  do {
    const page = await store.listInstances({ serviceId, phase: 'ready', limit: 200, cursor })
    for (const { id, createdAt, updatedAt } of page.items)
      if (updatedAt <= now - minimumAge && !seen.has(id)) {
        const reason = 'The ledger has it, and the backend does not.'
        const about = { serviceId, name: id, instanceId: id, createdAt, removable: false, reason }
        yield { kind: 'missing', ...about, service, state: {} }
      }
    cursor = page.next
  } while (cursor !== undefined)
}

/** Most are somebody's: only the others are looked at under the instance's lock. */
async function judge(store: Store, holding: Holding, age: Parameters<typeof judgeOrphan>[2]): Promise<OrphanJudgement> {
  const { instanceId, bindingId } = holding
  if (instanceId === undefined) return judgeOrphan(holding, {}, age)
  const instance = await store.instance(instanceId)
  const binding = bindingId === undefined ? undefined : await store.binding(instanceId, bindingId)
  const first = judgeOrphan(holding, { instance, binding }, age)
  if (first.kind === 'owned') return first
  return store.accept({ instanceId, bindingId }, rows => ({ answer: judgeOrphan(holding, rows, age) }))
}

function toTime({ name, createdAt }: BackendItem): number | undefined {
  if (createdAt === undefined) return undefined
  const time = new Date(createdAt).getTime()
  if (Number.isNaN(time)) throw new TypeError(`the list of the backend: createdAt of ${name} is not a time`)
  return time
}
