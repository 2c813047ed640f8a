import type { Binding, Instance, Operation, Store } from '../../src/store.ts'
import type { LedgerWatch } from '../../src/testing/ledger-watch.ts'
import type { Backend } from './backend.ts'
import type { Exchange, Promised } from './platform.ts'
import { bindingThing, type Features, parts, sharedThing } from './service.ts'

const expectedStatuses = new Set([200, 201, 202, 404, 409, 410, 422, 503])

/** What one answer may be, whatever else goes on at the time. */
export function checkAnswer(exchange: Exchange, watch: LedgerWatch, known: Iterable<Promised>): string | undefined {
  const { status, body, waits } = exchange
  if (body.error === 'InternalError') return 'InternalError'
  // A platform that waits is told how it went, as a status.
  if (waits) return undefined
  if (!expectedStatuses.has(status)) return `the status ${status}`
  if (status === 503) return undefined
  const running = [...known].find(promised => isSame(promised, exchange) && isRunningDuring(promised, exchange, watch))
  return running === undefined || body.operation === running.operation
    ? undefined
    : 'another operation than the one that was running for the same request all the time'
}

function isSame(promised: Promised, exchange: Exchange): boolean {
  const { verb, platform, instanceId, bindingId, variant } = exchange
  if (promised.verb !== verb || promised.platform !== platform) return false
  if (promised.instanceId !== instanceId || promised.bindingId !== bindingId) return false
  return verb === 'deprovision' || verb === 'unbind' || promised.variant === variant
}

function isRunningDuring({ operation: id }: Promised, { sentAt, answeredAt }: Exchange, watch: LedgerWatch): boolean {
  const operation = watch.operations().get(id)
  if (operation === undefined || operation.acceptedAt > sentAt) return false
  return operation.finishedAt === undefined || operation.finishedAt > answeredAt
}

/** What the ledger as a whole must look like once nothing is active any more. */
export function checkHistory(watch: LedgerWatch, known: Iterable<Promised>): readonly string[] {
  const problems: string[] = [...watch.problems()]
  for (const { operation } of known) {
    const state = watch.operations().get(operation)?.state
    if (state === undefined) problems.push(`operation ${operation} was answered with 202 and is not in the ledger`)
    if (state === 'queued' || state === 'running') problems.push(`operation ${operation} has not ended`)
  }
  const latest = new Map<string, Operation>()
  // A sweep that a creation took along is older than that, and ends in the middle of it, or after it.
  const alone = [...watch.operations().values()].filter(({ id }) => !id.includes('-sweep'))
  const inOrder = alone.sort((one, other) => one.acceptedAt - other.acceptedAt)
  for (const operation of inOrder) {
    const resource = JSON.stringify([operation.instanceId, operation.bindingId])
    const before = latest.get(resource)
    if (before !== undefined && (before.finishedAt ?? Number.POSITIVE_INFINITY) > operation.acceptedAt)
      problems.push(`${before.action} ${before.id} and ${operation.action} ${operation.id} overlap`)
    latest.set(resource, operation)
  }
  return problems
}

/** The backend holds what the ledger says, as far as anybody can promise it. */
export async function checkBackend(
  store: Store,
  watch: LedgerWatch,
  backend: Backend,
  features: Features,
): Promise<readonly string[]> {
  const problems: string[] = []
  const operations = [...watch.operations().values()]
  const instances = await instancesOf(store, operations)
  const ownOf = (id: string) => operations.filter(({ instanceId }) => instanceId === id)
  const { things } = backend
  for (const instance of instances) {
    const own = ownOf(instance.id)
    if (isUnswept(own)) continue
    const found = [...things.keys()].filter(name => name.startsWith(`${instance.id}/`))
    if (instance.phase === 'deleted') {
      if (found.length > 0) problems.push(`${instance.id} is deleted and the backend holds ${found.join(', ')}`)
      continue
    }
    if (instance.phase === 'ready' && !isDamaged(own, undefined)) problems.push(...checkParts(instance, own, backend))
    for (const bindingId of bindingsOf(own)) {
      const binding = await store.binding(instance.id, bindingId)
      if (binding !== undefined) problems.push(...checkBinding(binding, own, things))
    }
  }
  const sharers = instances.filter(({ id, phase }) => phase === 'ready' && !isDamaged(ownOf(id), undefined))
  if (features.shares && sharers.length > 0 && !things.has(sharedThing))
    problems.push(`${sharers.map(({ id }) => id).join(', ')} need the shared resource, and it is not there`)
  return problems
}

/** Everything was deleted: nothing is left, in the ledger or in the backend. */
export async function checkNothingLeft(store: Store, watch: LedgerWatch, backend: Backend): Promise<readonly string[]> {
  const problems: string[] = []
  const operations = [...watch.operations().values()]
  const unswept = new Set<string>()
  for (const instance of await instancesOf(store, operations)) {
    if (isUnswept(operations.filter(({ instanceId }) => instanceId === instance.id))) unswept.add(instance.id)
    if (instance.phase !== 'deleted') problems.push(`${instance.id} was deleted and is ${instance.phase}`)
    const bindings = await store.bindings(instance.id)
    if (bindings.length > 0) problems.push(`${bindings.length} bindings of ${instance.id} outlive it`)
  }
  const left = [...backend.things.keys()].filter(name =>
    name === sharedThing ? unswept.size === 0 : !unswept.has(name.split('/')[0] ?? ''),
  )
  if (left.length > 0) problems.push(`everything was deleted and the backend still holds ${left.join(', ')}`)
  for (const { id } of operations)
    if (await keepsSecrets(store, id)) problems.push(`everything was deleted and operation ${id} keeps what is sealed`)
  return problems
}

async function keepsSecrets(store: Store, id: string): Promise<boolean> {
  const operation = await store.operation(id)
  if (operation?.finishedAt === undefined) return false
  const steps = await store.steps(id)
  return Object.keys(operation.input).length > 0 || steps.some(({ output }) => output !== undefined)
}

export async function instancesOf(store: Store, operations: readonly Operation[]): Promise<readonly Instance[]> {
  const ids = new Set(operations.map(({ instanceId }) => instanceId))
  const instances = await Promise.all([...ids].map(id => store.instance(id)))
  return instances.filter(instance => instance !== undefined)
}

function checkParts(instance: Instance, own: readonly Operation[], { things, isOvertaken }: Backend): string[] {
  const names = parts.map(part => `${instance.id}/${part}`)
  const missing = names.filter(name => !things.has(name))
  if (missing.length > 0) return [`${instance.id} is ready and ${missing.join(', ')} is not there`]
  const last = own.find(({ id }) => id === instance.lastOperationId)
  const size = String(instance.parameters.size)
  const wrong = names.filter(name => things.get(name) !== size && !isOvertaken(name))
  return last?.state === 'succeeded' && wrong.length > 0
    ? [`${instance.id} has the size ${size} and ${wrong.join(', ')} has not`]
    : []
}

function checkBinding(binding: Binding, own: readonly Operation[], things: ReadonlyMap<string, string>): string[] {
  const { instanceId, id, phase } = binding
  const isThere = things.has(bindingThing(instanceId, id))
  if (phase === 'deleted' && isThere) return [`binding ${id} of ${instanceId} is deleted and still there`]
  if (phase === 'ready' && !isThere && !isDamaged(own, id))
    return [`binding ${id} of ${instanceId} is ready and not there`]
  return []
}

/** The backend refused to let a sweep remove what is left: that is for its operators. */
function isUnswept(own: readonly Operation[]): boolean {
  return own.some(({ action, state }) => action === 'sweep' && state === 'failed')
}

/** A deletion of it failed half-way, and none has succeeded since: what is left is nobody's promise. */
function isDamaged(own: readonly Operation[], bindingId: string | undefined): boolean {
  const deletions = own.filter(
    operation =>
      operation.bindingId === bindingId && (operation.action === 'deprovision' || operation.action === 'unbind'),
  )
  const clean = Math.max(
    0,
    ...deletions.filter(({ state }) => state === 'succeeded').map(({ finishedAt = 0 }) => finishedAt),
  )
  return deletions.some(({ state, acceptedAt }) => state === 'failed' && acceptedAt >= clean)
}

function bindingsOf(own: readonly Operation[]): ReadonlySet<string> {
  return new Set(own.flatMap(({ bindingId }) => (bindingId === undefined ? [] : [bindingId])))
}
