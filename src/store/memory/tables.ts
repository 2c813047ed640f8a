import { noticeDue } from '../../domain/expiry.ts'
import { dueAt, isActive } from '../../domain/operation.ts'
import type { SharedResource } from '../../domain/shared-claim.ts'
import type { MovedEvent } from '../../moving.ts'
import type { JsonObject } from '../../protocol/json.ts'
import type {
  Binding,
  Change,
  Chore,
  HistoryEvent,
  Instance,
  Lease,
  Link,
  Note,
  Operation,
  RegisteredService,
  RegistryState,
  Revision,
  Step,
} from '../../store.ts'
import { pinsOf, revisionGone } from '../pins.ts'
import { withoutSealed } from '../sealing.ts'
import type { BulletinRow } from './bulletins.ts'
import type { NameRow } from './names.ts'
import { Order } from './order.ts'
import { copy, Table, type Undo } from './table.ts'

/** The version of the catalog, and what was said about its latest change. */
export interface CatalogEdition {
  readonly version: number
  readonly lastChange?: { readonly at: number; readonly report: JsonObject }
}

interface Claim {
  readonly key: string
  readonly instanceId: string
}

interface StepRow {
  readonly operationId: string
  readonly step: Step
}

export interface EventRow {
  /** Rises with each event, also as a text. */
  readonly key: string
  readonly event: HistoryEvent
  readonly link?: Link
}

/** All rows. A throw in the middle of a transaction leaves nothing behind. */
export class Tables {
  readonly #undo: Undo = []
  readonly orders = {
    created: new Order<Instance>(({ createdAt, id }) => [createdAt, id]),
    observed: new Order<Instance>(({ observeAt }, sequence) =>
      observeAt === undefined ? undefined : [observeAt, sequence],
    ),
    createdBindings: new Order<Binding>(({ createdAt, instanceId, id }) => [createdAt, instanceId, id]),
    expiring: new Order<Binding>(({ expiresAt, instanceId, id }) =>
      expiresAt === undefined ? undefined : [expiresAt, instanceId, id],
    ),
    noticed: new Order<Binding>((row, sequence) => {
      const due = noticeDue(row)
      return due === undefined ? undefined : [due, sequence]
    }),
    accepted: new Order<Operation>(({ acceptedAt, id }) => [acceptedAt, id]),
    finished: new Order<Operation>(({ finishedAt, id }) => (finishedAt === undefined ? undefined : [finishedAt, id])),
    due: new Order<Operation>((row, sequence) => [dueAt(row), sequence]),
    acted: new Order<EventRow>(({ key, event }) => (event.type === 'acted' ? [event.at, key] : undefined)),
    linked: new Order<EventRow>(({ key, link }) => link && [link.no, key]),
    unlinked: new Order<EventRow>(({ link }, sequence) => (link === undefined ? [sequence] : undefined)),
  }
  readonly instances = new Table<Instance>(this.#undo, { orders: [this.orders.created, this.orders.observed] })
  readonly chores = new Table<Chore>(this.#undo)
  readonly names = new Table<NameRow>(this.#undo)
  readonly notes = new Table<Note>(this.#undo, { groupOf: ({ kind }) => kind })
  readonly bulletins = new Table<BulletinRow>(this.#undo)
  readonly shared = new Table<SharedResource>(this.#undo)
  readonly revisions = new Table<Revision>(this.#undo)
  readonly services = new Table<RegisteredService>(this.#undo)
  readonly registries = new Table<RegistryState>(this.#undo)
  readonly editions = new Table<CatalogEdition>(this.#undo)
  readonly bindings = new Table<Binding>(this.#undo, {
    groupOf: ofInstance,
    orders: [this.orders.createdBindings, this.orders.expiring, this.orders.noticed],
  })
  readonly operations = new Table<Operation>(this.#undo, {
    groupOf: ofInstance,
    orders: [this.orders.accepted, this.orders.finished],
  })
  /** The active operations. */
  readonly queue = new Table<Operation>(this.#undo, { groupOf: ofInstance, orders: [this.orders.due] })
  readonly #claims = new Table<Claim>(this.#undo, { groupOf: row => row.key })
  readonly #steps = new Table<StepRow>(this.#undo, { groupOf: row => row.operationId })
  readonly events = new Table<EventRow>(this.#undo, {
    groupOf: row => row.event.instanceId,
    orders: [this.orders.acted, this.orders.linked, this.orders.unlinked],
  })
  #fence = 0
  #events = 0

  transaction<Result>(body: () => Result): Result {
    this.#undo.length = 0
    try {
      return body()
    } catch (error) {
      for (const step of this.#undo.reverse()) step()
      throw error
    }
  }

  binding(instanceId: string, id: string): Binding | undefined {
    return this.bindings.get(pair(instanceId, id))
  }

  heldOperation({ operationId, fence }: Lease): Operation | undefined {
    const operation = this.operations.get(operationId)
    return operation?.state === 'running' && operation.fence === fence ? operation : undefined
  }

  /** Never given again, also where the transaction that took it fails. */
  nextFence(): number {
    this.#fence += 1
    return this.#fence
  }

  get fence(): number {
    return this.#fence
  }

  raiseFence(to: number): void {
    this.#fence = Math.max(this.#fence, to)
  }

  /** Whether nothing of a ledger that was used is there. */
  isEmpty(): boolean {
    return [this.instances, this.revisions, this.shared, this.events, this.notes].every(table => table.size === 0)
  }

  /** All rows that are found by what they belong to. */
  belongings() {
    return {
      steps: [...this.#steps.all()].map(({ operationId, step }) => ({ operationId, ...step })),
      claims: [...this.#claims.all()],
      events: [...this.events.all()].map(({ event, link }): MovedEvent => (link ? { ...event, link } : event)),
    }
  }

  activeOperation(instanceId: string, bindingId?: string): Operation | undefined {
    return this.queue.allOf(instanceId).find(each => each.bindingId === bindingId)
  }

  /** The active operations of the instance's bindings. */
  busyBindings(instanceId: string): readonly Operation[] {
    return this.queue.allOf(instanceId).filter(each => each.bindingId !== undefined)
  }

  steps(operationId: string): readonly Step[] {
    return this.#steps.allOf(operationId).map(({ step }) => step)
  }

  history(instanceId: string): readonly HistoryEvent[] {
    return this.events.allOf(instanceId).map(({ event }) => event)
  }

  otherClaims(key: string, instanceId: string): number {
    return this.#claims.allOf(key).filter(claim => claim.instanceId !== instanceId).length
  }

  claimants(key: string): readonly Instance[] {
    return this.#claims.allOf(key).flatMap(({ instanceId }) => this.instances.get(instanceId) ?? [])
  }

  apply(change: Change): void {
    if (change.instance !== undefined) {
      if (pinsOf(change.instance).some(id => !this.revisions.has(id))) throw revisionGone()
      this.instances.put(change.instance.id, change.instance)
    }
    for (const binding of change.bindings ?? []) this.putBinding(copy(binding))
    for (const operation of change.operations ?? []) this.putOperation(copy(operation))
    if (change.copySteps !== undefined) this.#copySteps(change.copySteps)
    for (const id of change.deleteOperations ?? []) this.removeOperation(id)
    this.#emptyDeleted(change)
    for (const event of change.history ?? []) this.putEvent(event)
  }

  putEvent(event: HistoryEvent, link?: Link): void {
    this.#events += 1
    const key = String(this.#events).padStart(15, '0')
    this.events.put(key, { key, event, link })
  }

  /** Like all that puts a row: nobody else may have a part of it, save for what the table has frozen. */
  putBinding(binding: Binding): void {
    this.#requireInstance(binding.instanceId, `binding ${binding.id}`)
    this.bindings.keep(pair(binding.instanceId, binding.id), binding)
  }

  putOperation(operation: Operation): void {
    const { id, instanceId, bindingId } = operation
    this.#requireInstance(instanceId, `operation ${id}`)
    this.operations.keep(id, operation)
    if (!isActive(operation)) {
      this.queue.remove(id)
      return
    }
    const other = this.queue.has(id) ? undefined : this.activeOperation(instanceId, bindingId)
    if (other !== undefined)
      throw new Error(`operation ${id} cannot be active: operation ${other.id} of the same resource is`)
    this.queue.keep(id, operation)
  }

  putStep(operationId: string, step: Step): void {
    const key = pair(operationId, step.name)
    if (this.#steps.get(key)?.step.state === 'done')
      throw new Error(`step ${step.name} of operation ${operationId} is done: it cannot be written again`)
    this.#steps.put(key, { operationId, step })
  }

  putClaim(key: string, instanceId: string, claimed: boolean): void {
    if (claimed) this.#claims.put(pair(key, instanceId), { key, instanceId })
    else this.#claims.remove(pair(key, instanceId))
  }

  removeOperation(id: string): void {
    this.operations.remove(id)
    this.queue.remove(id)
    for (const { step } of this.#steps.allOf(id)) this.#steps.remove(pair(id, step.name))
  }

  /** The binding's row alone. */
  removeBinding(instanceId: string, id: string): void {
    this.bindings.remove(pair(instanceId, id))
  }

  /**
   * With its bindings and its claims; its operations are removed one by one. A claim that is left only says
   * that a deletion forgot to release it: the rows of the shared resources stay as they are, so nothing that a neighbour
   * claims goes, and what nobody claims any more is removed by the next one that acquires and releases it.
   */
  removeInstance(id: string): void {
    this.instances.remove(id)
    for (const binding of this.bindings.allOf(id)) this.removeBinding(id, binding.id)
    for (const claim of [...this.#claims.all()]) if (claim.instanceId === id) this.putClaim(claim.key, id, false)
  }

  #copySteps({ from, to }: NonNullable<Change['copySteps']>): void {
    for (const step of this.steps(from).filter(({ state }) => state === 'done')) this.putStep(to, step)
  }

  /** What operations have kept goes with what they were about. What is active may still need it, as a sweep does. */
  #emptyDeleted({ instance, bindings = [], operations = [] }: Change): void {
    const ofInstance = instance?.phase === 'deleted' ? this.operations.allOf(instance.id) : []
    const ofBindings = bindings
      .filter(isDeleted)
      .flatMap(binding => this.operations.allOf(binding.instanceId).filter(each => each.bindingId === binding.id))
    for (const { id } of [...operations, ...ofInstance, ...ofBindings]) {
      const operation = this.operations.get(id)
      if (operation?.finishedAt === undefined || !this.#isAboutDeleted(operation)) continue
      this.operations.keep(id, withoutSealed(operation))
      for (const { output: _output, ...step } of this.steps(id))
        this.#steps.keep(pair(id, step.name), { operationId: id, step })
    }
  }

  #isAboutDeleted({ instanceId, bindingId }: Operation): boolean {
    if (isDeleted(this.instances.get(instanceId))) return true
    return bindingId !== undefined && isDeleted(this.binding(instanceId, bindingId))
  }

  #requireInstance(instanceId: string, what: string): void {
    if (!this.instances.has(instanceId))
      throw new Error(`${what} cannot be written: there is no instance ${instanceId}`)
  }
}

function isDeleted(row: Instance | Binding | undefined): boolean {
  return row?.phase === 'deleted'
}

function ofInstance({ instanceId }: { readonly instanceId: string }): string {
  return instanceId
}

/** The key of what is known by two ids, or by one of them. */
export function pair(one: string, other?: string): string {
  return JSON.stringify([one, other])
}
