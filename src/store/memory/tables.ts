import { isActive } from '../../domain/operation.ts'
import type { SharedResource } from '../../domain/shared-claim.ts'
import type { JsonObject } from '../../protocol/json.ts'
import type {
  Binding,
  Change,
  Chore,
  HistoryEvent,
  Instance,
  Lease,
  Operation,
  RegisteredService,
  RegistryState,
  Revision,
  Step,
} from '../../store.ts'
import { pinsOf, revisionGone } from '../pins.ts'

/** The version of the catalog, and what was said about its latest change. */
interface CatalogEdition {
  readonly version: number
  readonly lastChange?: { readonly at: number; readonly report: JsonObject }
}

/**
 * The rows and their indexes. Every write goes through a method here, inside `transaction`, so that a throw in the middle
 * leaves nothing behind. Rows pass through JSON on their way in and out: nobody shares an object with the ledger, and a
 * Date or an undefined becomes what it becomes in a database.
 */
export class Tables {
  readonly #instances = new Map<string, Instance>()
  readonly #bindings = new Map<string, Map<string, Binding>>()
  readonly #operations = new Map<string, Operation>()
  readonly #steps = new Map<string, Map<string, Step>>()
  readonly #history = new Map<string, readonly HistoryEvent[]>()
  readonly #shared = new Map<string, SharedResource>()
  readonly #claims = new Map<string, Map<string, true>>()
  readonly #chores = new Map<string, Chore>()
  readonly #revisions = new Map<string, Revision>()
  readonly #services = new Map<string, RegisteredService>()
  readonly #registries = new Map<string, RegistryState>()
  readonly #editions = new Map<'catalog', CatalogEdition>()

  /** The active operations, in the order in which they were accepted, and by resource. */
  readonly #queue = new Map<string, Operation>()
  readonly #activeByInstance = new Map<string, Map<string, string>>()
  readonly #observed = new Map<string, number>()

  #fence = 0
  #undo: (() => void)[] = []

  transaction<Result>(body: () => Result): Result {
    this.#undo = []
    try {
      return body()
    } catch (error) {
      for (const step of this.#undo.reverse()) step()
      throw error
    }
  }

  instance(id: string): Instance | undefined {
    return copy(this.#instances.get(id))
  }

  binding(instanceId: string, id: string): Binding | undefined {
    return copy(this.#bindings.get(instanceId)?.get(id))
  }

  bindings(instanceId: string): readonly Binding[] {
    return copy([...(this.#bindings.get(instanceId)?.values() ?? [])])
  }

  operation(id: string): Operation | undefined {
    return copy(this.#operations.get(id))
  }

  heldOperation({ operationId, fence }: Lease): Operation | undefined {
    const operation = this.operation(operationId)
    return operation?.state === 'running' && operation.fence === fence ? operation : undefined
  }

  /** Never given again, also where the transaction that took it fails. */
  nextFence(): number {
    this.#fence += 1
    return this.#fence
  }

  activeOperation(instanceId: string, bindingId?: string): Operation | undefined {
    const id = this.#activeByInstance.get(instanceId)?.get(bindingId ?? '')
    return id === undefined ? undefined : this.operation(id)
  }

  busyBindings(instanceId: string): number {
    return [...(this.#activeByInstance.get(instanceId)?.keys() ?? [])].filter(bindingId => bindingId !== '').length
  }

  queue(): Iterable<Operation> {
    return this.#queue.values()
  }

  steps(operationId: string): readonly Step[] {
    return copy([...(this.#steps.get(operationId)?.values() ?? [])])
  }

  history(instanceId: string): readonly HistoryEvent[] {
    return copy(this.#history.get(instanceId) ?? [])
  }

  observed(): Iterable<readonly [id: string, observeAt: number]> {
    return this.#observed
  }

  shared(key: string): SharedResource {
    return copy(this.#shared.get(key)) ?? { key, phase: 'absent' }
  }

  otherClaims(key: string, instanceId: string): number {
    const claims = this.#claims.get(key)
    return claims === undefined ? 0 : claims.size - (claims.has(instanceId) ? 1 : 0)
  }

  chore(name: string): Chore | undefined {
    return copy(this.#chores.get(name))
  }

  chores(): readonly Chore[] {
    return copy([...this.#chores.values()])
  }

  revisions(): readonly Revision[] {
    return copy([...this.#revisions.values()])
  }

  services(): readonly RegisteredService[] {
    return copy([...this.#services.values()])
  }

  registries(): readonly RegistryState[] {
    return copy([...this.#registries.values()])
  }

  edition(): CatalogEdition {
    return copy(this.#editions.get('catalog')) ?? { version: 0 }
  }

  /** The rows themselves, to look through: copies of all of them would cost more than the search. */
  allInstances(): Iterable<Instance> {
    return this.#instances.values()
  }

  *allBindings(): Iterable<Binding> {
    for (const bindings of this.#bindings.values()) yield* bindings.values()
  }

  allOperations(): Iterable<Operation> {
    return this.#operations.values()
  }

  allRevisions(): Iterable<Revision> {
    return this.#revisions.values()
  }

  allServices(): Iterable<RegisteredService> {
    return this.#services.values()
  }

  apply(change: Change): void {
    if (change.instance !== undefined) {
      if (pinsOf(change.instance).some(id => !this.#revisions.has(id))) throw revisionGone()
      this.putInstance(change.instance)
    }
    for (const binding of change.bindings ?? []) this.putBinding(binding)
    for (const operation of change.operations ?? []) this.putOperation(operation)
    for (const id of change.deleteOperations ?? []) this.removeOperation(id)
    for (const event of change.history ?? []) this.#append(event)
  }

  putInstance(instance: Instance): void {
    this.#set(this.#instances, instance.id, copy(instance))
    this.#set(this.#observed, instance.id, instance.observeAt)
  }

  putBinding(binding: Binding): void {
    this.#requireInstance(binding.instanceId, `binding ${binding.id}`)
    this.#set(this.#within(this.#bindings, binding.instanceId), binding.id, copy(binding))
  }

  putOperation(operation: Operation): void {
    this.#requireInstance(operation.instanceId, `operation ${operation.id}`)
    const row = copy(operation)
    this.#deactivate(operation.id)
    this.#set(this.#operations, operation.id, row)
    this.#set(this.#queue, operation.id, isActive(row) ? row : undefined)
    if (!isActive(row)) return
    const active = this.#within(this.#activeByInstance, operation.instanceId)
    const other = active.get(operation.bindingId ?? '')
    if (other !== undefined) {
      throw new Error(`operation ${operation.id} cannot be active: operation ${other} of the same resource is`)
    }
    this.#set(active, operation.bindingId ?? '', operation.id)
  }

  putStep(operationId: string, step: Step): void {
    const steps = this.#within(this.#steps, operationId)
    if (steps.get(step.name)?.state === 'done') {
      throw new Error(`step ${step.name} of operation ${operationId} is done: it cannot be written again`)
    }
    this.#set(steps, step.name, copy(step))
  }

  putShared(row: SharedResource): void {
    this.#set(this.#shared, row.key, row.phase === 'absent' ? undefined : copy(row))
  }

  putClaim(key: string, instanceId: string, claimed: boolean): void {
    this.#set(this.#within(this.#claims, key), instanceId, claimed ? true : undefined)
  }

  putChore(chore: Chore): void {
    this.#set(this.#chores, chore.name, copy(chore))
  }

  /** False where it is there: a revision never changes. */
  insertRevision(revision: Revision): boolean {
    if (this.#revisions.has(revision.id)) return false
    this.#set(this.#revisions, revision.id, copy(revision))
    return true
  }

  /** False where it says the same already. */
  putService(service: RegisteredService): boolean {
    if (!this.#revisions.has(service.revisionId))
      throw new Error(`service ${service.serviceId} cannot be written: there is no revision ${service.revisionId}`)
    if (JSON.stringify(this.#services.get(service.serviceId)) === JSON.stringify(service)) return false
    this.#set(this.#services, service.serviceId, copy(service))
    return true
  }

  putRegistry(registry: RegistryState): void {
    this.#set(this.#registries, registry.name, copy(registry))
  }

  putEdition(edition: CatalogEdition): void {
    this.#set(this.#editions, 'catalog', copy(edition))
  }

  removeRevision(id: string): void {
    this.#set(this.#revisions, id, undefined)
  }

  removeService(id: string): void {
    this.#set(this.#services, id, undefined)
  }

  removeRegistry(name: string): void {
    this.#set(this.#registries, name, undefined)
  }

  removeOperation(operationId: string): void {
    this.#deactivate(operationId)
    this.#set(this.#operations, operationId, undefined)
    this.#set(this.#queue, operationId, undefined)
    this.#set(this.#steps, operationId, undefined)
  }

  /** The binding's row alone. */
  removeBinding(instanceId: string, id: string): void {
    this.#set(this.#within(this.#bindings, instanceId), id, undefined)
  }

  /**
   * With its bindings, its history and its claims; its operations are removed one by one. A claim that is left says no
   * more than that a deletion forgot to release: the rows of the shared resources stay as they are, so nothing that a
   * neighbour claims goes, and what nobody claims any more is removed by the next one that acquires and releases it.
   */
  removeInstance(id: string): void {
    this.#set(this.#instances, id, undefined)
    this.#set(this.#observed, id, undefined)
    this.#set(this.#bindings, id, undefined)
    this.#set(this.#activeByInstance, id, undefined)
    this.#set(this.#history, id, undefined)
    for (const claims of this.#claims.values()) if (claims.has(id)) this.#set(claims, id, undefined)
  }

  #append(event: HistoryEvent): void {
    this.#set(this.#history, event.instanceId, [...(this.#history.get(event.instanceId) ?? []), copy(event)])
  }

  #deactivate(operationId: string): void {
    const before = this.#queue.get(operationId)
    if (before === undefined) return
    this.#set(this.#within(this.#activeByInstance, before.instanceId), before.bindingId ?? '', undefined)
  }

  #requireInstance(instanceId: string, what: string): void {
    if (!this.#instances.has(instanceId))
      throw new Error(`${what} cannot be written: there is no instance ${instanceId}`)
  }

  #within<Value>(tables: Map<string, Map<string, Value>>, key: string): Map<string, Value> {
    const existing = tables.get(key)
    if (existing !== undefined) return existing
    const created = new Map<string, Value>()
    this.#set(tables, key, created)
    return created
  }

  #set<Value>(table: Map<string, Value>, key: string, value: Value | undefined): void {
    const before = table.get(key)
    this.#undo.push(() => put(table, key, before))
    put(table, key, value)
  }
}

function put<Value>(table: Map<string, Value>, key: string, value: Value | undefined): void {
  if (value === undefined) table.delete(key)
  else table.set(key, value)
}

function copy<Value>(value: Value): Value {
  return value === undefined ? value : JSON.parse(JSON.stringify(value))
}
