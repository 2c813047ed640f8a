/** A ledger as plain rows, what clean-up and purge may do to it, and random ones. */
import fc from 'fast-check'
import type { Binding, CleanUp, Instance, Operation, Store } from '../../src/store.ts'
import { bindingRow, instanceRow, operationRow } from '../../src/testing/store-contract/rows.ts'

export interface Ledger {
  readonly instances: readonly Instance[]
  readonly bindings: readonly Binding[]
  readonly operations: readonly Operation[]
}

export type Move =
  | { readonly type: 'cleanUp'; readonly wanted: CleanUp }
  | { readonly type: 'purge'; readonly before: number; readonly max: number }

/** The clock stands still. Times lie around it, few enough to meet often. */
export const now = 1_000
const time = fc.constantFrom(100, 200, 300, 1_000)

/** What may go, with its age and what its going does to the ledger. */
export interface Due {
  readonly at: number
  readonly remove: (ledger: Ledger) => Ledger
}

export function cleanedUp(ledger: Ledger, { of, states, before }: CleanUp): readonly Due[] {
  return ledger.operations.flatMap((operation): Due[] => {
    const { id, bindingId, state, finishedAt, leaseUntil = 0 } = operation
    if (finishedAt === undefined || finishedAt > before || leaseUntil > now) return []
    if (!states.some(wanted => wanted === state) || (of === 'bindings') !== (bindingId !== undefined)) return []
    if (isLastOfLive(ledger, operation)) return []
    const remove = (rows: Ledger) => ({ ...rows, operations: rows.operations.filter(row => row.id !== id) })
    return [{ at: finishedAt, remove }]
  })
}

export function purged(ledger: Ledger, before: number): readonly Due[] {
  const instances = ledger.instances.flatMap((instance): Due[] => {
    const { id, deletedAt } = instance
    const own = [instance, ...ledger.bindings.filter(row => row.instanceId === id)]
    if (!isDead(instance) || deletedAt === undefined || deletedAt > before || own.some(isUnclean)) return []
    if (ledger.operations.some(row => row.instanceId === id && isActive(row))) return []
    const remove = (rows: Ledger) => ({
      instances: rows.instances.filter(row => row.id !== id),
      bindings: rows.bindings.filter(row => row.instanceId !== id),
      operations: rows.operations.filter(row => row.instanceId !== id),
    })
    return [{ at: deletedAt, remove }]
  })
  const bindings = ledger.bindings.flatMap((binding): Due[] => {
    const { deletedAt } = binding
    const belongs = (row: Operation) => row.instanceId === binding.instanceId && row.bindingId === binding.id
    if (!isDead(binding) || deletedAt === undefined || deletedAt > before || isUnclean(binding)) return []
    if (ledger.instances.some(row => row.id === binding.instanceId && isDead(row))) return []
    if (ledger.operations.some(row => belongs(row) && isActive(row))) return []
    const remove = (rows: Ledger) => ({
      ...rows,
      bindings: rows.bindings.filter(row => row.instanceId !== binding.instanceId || row.id !== binding.id),
      operations: rows.operations.filter(row => !belongs(row)),
    })
    return [{ at: deletedAt, remove }]
  })
  return [...instances, ...bindings]
}

/** What is in progress, and what the polls of live resources are answered from. */
export function mustStay(ledger: Ledger): readonly Operation[] {
  const alive = new Set(ledger.instances.filter(instance => !isDead(instance)).map(({ id }) => id))
  return ledger.operations.filter(
    operation => isActive(operation) || (alive.has(operation.instanceId) && isLastOfLive(ledger, operation)),
  )
}

/** Nothing of what is left could still go. */
export function isSettled(ledger: Ledger): boolean {
  const states = ['succeeded', 'failed', 'superseded'] as const
  const due = (['instances', 'bindings'] as const).flatMap(of => cleanedUp(ledger, { of, states, before: now, max: 0 }))
  return due.length === 0 && purged(ledger, now).length === 0
}

/** Every choice of so many, the oldest first: where several are of the same age at the end, any of them. */
export function oldestFirst(due: readonly Due[], count: number): readonly (readonly Due['remove'][])[] {
  const sorted = [...due].sort((one, other) => one.at - other.at)
  const edge = sorted[count - 1]?.at
  const sure = sorted.filter(({ at }) => edge !== undefined && at < edge)
  const open = sorted.filter(({ at }) => at === edge)
  return choices(open, count - sure.length).map(chosen => [...sure, ...chosen].map(({ remove }) => remove))
}

function choices<Item>(items: readonly Item[], count: number): readonly (readonly Item[])[] {
  if (count <= 0) return [[]]
  if (items.length < count) return []
  return items.flatMap((item, index) => choices(items.slice(index + 1), count - 1).map(rest => [item, ...rest]))
}

function isLastOfLive(ledger: Ledger, { id, instanceId, bindingId }: Operation): boolean {
  const row =
    bindingId === undefined
      ? ledger.instances.find(instance => instance.id === instanceId)
      : ledger.bindings.find(binding => binding.instanceId === instanceId && binding.id === bindingId)
  return row !== undefined && !isDead(row) && row.lastOperationId === id
}

function isDead({ phase }: Instance | Binding): boolean {
  return phase === 'deleted'
}

function isUnclean({ uncleanUntil = 0 }: Instance | Binding): boolean {
  return uncleanUntil > now
}

function isActive({ state }: Operation): boolean {
  return state === 'queued' || state === 'running'
}

/** One by one, and the latest operation of a resource before the others or after them: stores keep marks of their own. */
export async function writeLedger(store: Store, { instances, bindings, operations }: Ledger): Promise<void> {
  for (const instance of instances) {
    const own = operations.filter(row => row.instanceId === instance.id)
    await store.accept({ instanceId: instance.id }, () => ({
      answer: 0,
      change: {
        instance: { ...instance, phase: 'ready', lastOperationId: own[0]?.id ?? 'none' },
        bindings: bindings.filter(row => row.instanceId === instance.id),
        operations: own,
      },
    }))
    await store.accept({ instanceId: instance.id }, () => ({ answer: 0, change: { instance } }))
  }
}

/** What the store has of the rows, in their order. */
export async function rowsIn(store: Store, { instances, bindings, operations }: Ledger): Promise<Ledger> {
  const found = <Row>(rows: readonly (Row | undefined)[]) => rows.filter(row => row !== undefined)
  return {
    instances: found(await Promise.all(instances.map(({ id }) => store.instance(id)))),
    bindings: found(await Promise.all(bindings.map(({ instanceId, id }) => store.binding(instanceId, id)))),
    operations: found(await Promise.all(operations.map(({ id }) => store.operation(id)))),
  }
}

const optionalTime = fc.option(fc.constantFrom(500, 1_000, 1_001, 2_000), { nil: undefined })

const operation = fc.record({
  state: fc.constantFrom('succeeded', 'succeeded', 'failed', 'superseded', 'queued', 'running'),
  action: fc.constantFrom('provision', 'update', 'observe', 'sweep'),
  finishedAt: time,
  leaseUntil: optionalTime,
})

const resource = fc.record({
  phase: fc.constantFrom('ready', 'failed', 'deleted', 'deleted'),
  deletedAt: time,
  uncleanUntil: optionalTime,
  operations: fc.array(operation, { maxLength: 4 }),
  /** Which of them is the latest. */
  last: fc.nat({ max: 4 }),
})

export const ledgers: fc.Arbitrary<Ledger> = fc
  .array(fc.record({ instance: resource, bindings: fc.array(resource, { maxLength: 2 }) }), { maxLength: 4 })
  .map(specs => {
    const all = specs.map(({ instance, bindings }, index) => {
      const instanceId = `i${index}`
      return {
        instance: instanceRow(instanceId, standing(instanceId, instance)),
        bindings: bindings.map((binding, place) =>
          bindingRow(instanceId, `b${place}`, standing(`${instanceId}:b${place}`, binding)),
        ),
        operations: [
          ...operationsOf(instanceId, instanceId, instance),
          ...bindings.flatMap((binding, place) =>
            operationsOf(`${instanceId}:b${place}`, instanceId, binding, `b${place}`),
          ),
        ],
      }
    })
    return {
      instances: all.map(({ instance }) => instance),
      bindings: all.flatMap(({ bindings }) => bindings),
      operations: all.flatMap(({ operations }) => operations),
    }
  })

type Resource = typeof resource extends fc.Arbitrary<infer Value> ? Value : never

function standing(name: string, { phase, deletedAt, uncleanUntil, last }: Resource) {
  return {
    phase,
    lastOperationId: `${name}:o${last}`,
    ...(phase === 'deleted' ? { deletedAt } : {}),
    uncleanUntil,
  }
}

/** At most one of them is active. */
function operationsOf(name: string, instanceId: string, { operations }: Resource, bindingId?: string): Operation[] {
  const active = operations.findIndex(({ state }) => state === 'queued' || state === 'running')
  return operations.map(({ state, action, finishedAt, leaseUntil }, index) => {
    const isOver = state !== 'queued' && state !== 'running'
    return operationRow(`${name}:o${index}`, instanceId, {
      // What is deleted keeps none.
      requestHash: undefined,
      action,
      state: isOver || index === active ? state : 'failed',
      bindingId,
      ...(index === active ? {} : { finishedAt }),
      // One that is written as running without a fence is being leased.
      ...(state === 'running' && { fence: 1 }),
      leaseUntil,
    })
  })
}

const states = fc.uniqueArray(fc.constantFrom('succeeded', 'failed', 'superseded'), { minLength: 1 })
const max = fc.constantFrom(1, 2, 3, 100)

export const moves: fc.Arbitrary<Move[]> = fc.array(
  fc.oneof(
    fc.record({
      type: fc.constant('cleanUp'),
      wanted: fc.record({ of: fc.constantFrom('instances', 'bindings'), states, before: time, max }),
    }),
    fc.record({ type: fc.constant('purge'), before: time, max }),
  ) as fc.Arbitrary<Move>,
  { maxLength: 6 },
)
