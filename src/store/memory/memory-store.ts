import type { Clock } from '../../clock.ts'
import { compareText } from '../../domain/catalog-state.ts'
import { claimed, nextState } from '../../domain/operation.ts'
import { decideShared } from '../../domain/shared-claim.ts'
import type {
  Change,
  Checkpoint,
  Claim,
  Lease,
  Operation,
  Parking,
  Snapshot,
  Store,
  Target,
  WakeUp,
} from '../../store.ts'
import { StoreUnavailableError } from '../../store.ts'
import { createWakeUps, wakeUpsOf } from '../wake-ups.ts'
import { changeCatalog, readCatalog, readUses } from './catalog.ts'
import { finishChore, renewChore, takeChore } from './chores.ts'
import { cleanUp } from './clean-up.ts'
import { listBindings, listInstances, listOperations } from './lists.ts'
import { purge } from './purge.ts'
import { Tables } from './tables.ts'

/** Every method runs to its end in one turn, so each is a transaction without a lock. */
export function createMemoryStore({ clock }: { clock: Clock }): Store {
  const tables = new Tables()
  const wakeUps = createWakeUps()
  let fence = 0
  let open = true

  /** The one way in: refuses after close, takes back what a throw left half done, wakes afterwards. */
  async function run<Result>(body: (wake: WakeUp[]) => Result): Promise<Result> {
    if (!open) throw new StoreUnavailableError('the memory store is closed')
    const wake: WakeUp[] = []
    const result = tables.transaction(() => body(wake))
    wakeUps.send(wake)
    return result
  }

  function held(lease: Lease): Operation | undefined {
    const operation = tables.operation(lease.operationId)
    return operation?.state === 'running' && operation.fence === lease.fence ? operation : undefined
  }

  return {
    name: 'memory:',

    accept: (target, decide) =>
      run(wake => {
        const { answer, change } = decide(snapshot(tables, clock.now(), target))
        if (change !== undefined) apply(tables, change, wake)
        return answer
      }),

    claim: (owner, max, leaseMs) =>
      run(() => {
        const now = clock.now()
        const active = [...tables.queue()].sort((one, other) => dueAt(one) - dueAt(other))
        const due = active.filter(operation => dueAt(operation) <= now).slice(0, Math.max(0, max))
        const claims = due.map(operation => {
          fence += 1
          return claim(tables, operation, { leaseOwner: owner, leaseUntil: now + leaseMs, fence }, now)
        })
        const next = active.find(operation => !due.includes(operation))
        return { claims, now, ...(next === undefined ? {} : { nextAt: dueAt(next) }) }
      }),

    renew: (leases, leaseMs) =>
      run(() =>
        leases.filter(lease => {
          const operation = held(lease)
          const now = clock.now()
          if (operation?.leaseUntil === undefined || operation.leaseUntil <= now) return false
          tables.putOperation({ ...operation, leaseUntil: now + leaseMs })
          return true
        }),
      ),

    checkpoint: (lease, checkpoint) =>
      run(() => {
        const operation = held(lease)
        if (operation === undefined) return false
        const progress = checkpoint.step?.state === 'done' ? { losses: 0, checkpointAt: clock.now() } : {}
        tables.putOperation({ ...operation, ...described(checkpoint), ...progress })
        if (checkpoint.step !== undefined) tables.putStep(operation.id, checkpoint.step)
        if (checkpoint.state !== undefined) replaceState(tables, operation, checkpoint.state)
        return true
      }),

    park: (lease, parking) =>
      run(wake => {
        const operation = held(lease)
        if (operation === undefined) return false
        const state = nextState(operation.state, 'park')
        tables.putOperation({ ...released(operation), ...described(parking), state, notBefore: parking.until })
        if (parking.step !== undefined) tables.putStep(operation.id, parking.step)
        wake.push({ type: 'work' })
        return true
      }),

    finish: (lease, decide) =>
      run(wake => {
        const finishing = held(lease)
        if (finishing === undefined) return false
        const target = targetOf(tables, finishing)
        apply(tables, decide({ ...snapshot(tables, clock.now(), target), finishing }), wake)
        return true
      }),

    handBack: lease =>
      run(wake => {
        const operation = tables.operation(lease.operationId)
        if (operation?.fence !== lease.fence) return
        const now = clock.now()
        if (operation.state === 'running') {
          tables.putOperation({ ...released(operation), state: nextState('running', 'park'), notBefore: now })
        } else if (operation.state === 'superseded') {
          tables.putOperation({ ...operation, leaseUntil: now })
          letSuccessorStart(tables, operation.id, now)
        } else return
        wake.push({ type: 'work' })
      }),

    share: (lease, key, wish) =>
      run(() => {
        const operation = held(lease)
        if (operation === undefined) return undefined
        const row = tables.shared(key)
        const { answer, ...verdict } = decideShared(wish, {
          row,
          operationId: operation.id,
          otherClaims: tables.otherClaims(key, operation.instanceId),
          holderAlive: isAlive(tables, row.holder, operation.id, clock.now()),
        })
        tables.putShared(verdict.row)
        if (verdict.claim !== undefined) tables.putClaim(key, operation.instanceId, verdict.claim)
        return answer
      }),

    instance: id => run(() => tables.instance(id)),
    binding: (instanceId, id) => run(() => tables.binding(instanceId, id)),
    bindings: instanceId => run(() => tables.bindings(instanceId).filter(binding => binding.phase !== 'deleted')),
    operation: id => run(() => tables.operation(id)),
    steps: operationId => run(() => tables.steps(operationId)),
    history: instanceId => run(() => tables.history(instanceId)),
    listInstances: (query = {}) => run(() => listInstances(tables, query)),
    listBindings: (query = {}) => run(() => listBindings(tables, query)),
    listOperations: (query = {}) => run(() => listOperations(tables, query)),
    dueForObservation: max =>
      run(() =>
        [...tables.observed()]
          .filter(([, observeAt]) => observeAt <= clock.now())
          .sort(([, one], [, other]) => one - other)
          .slice(0, Math.max(0, max))
          .map(([id]) => id),
      ),

    takeChore: taking => run(() => takeChore(tables, taking, clock.now())),
    renewChore: (lease, leaseMs) => run(() => renewChore(tables, lease, leaseMs, clock.now())),
    finishChore: (lease, result) => run(() => finishChore(tables, lease, result, clock.now())),
    chores: () =>
      run(() => ({ now: clock.now(), chores: [...tables.chores()].sort((a, b) => (a.name < b.name ? -1 : 1)) })),
    cleanUp: wanted => run(() => cleanUp(tables, wanted, clock.now())),
    purge: (before, max) => run(() => purge(tables, before, max, clock.now())),

    catalog: known => run(() => readCatalog(tables, known)),
    registries: () =>
      run(() => ({
        now: clock.now(),
        registries: [...tables.registries()].sort((a, b) => compareText(a.name, b.name)),
        ...given('lastChange', tables.edition().lastChange),
      })),
    revisionUses: () => run(() => readUses(tables)),
    changeCatalog: (version, changes, report) =>
      run(wake => {
        const writing = { version, changes, ...given('report', report) }
        const { written, changed } = changeCatalog(tables, writing, clock.now())
        if (changed) wake.push({ type: 'catalog' })
        return written
      }),

    ping: () => run(() => undefined),
    onWakeUp: listener => wakeUps.listen(listener),
    async close() {
      open = false
    },
  }
}

function snapshot(tables: Tables, now: number, { instanceId, bindingId, predecessorId }: Target): Snapshot {
  const live = tables.bindings(instanceId).filter(({ phase }) => phase !== 'failed' && phase !== 'deleted')
  return {
    now,
    ...given('instance', tables.instance(instanceId)),
    ...given('operation', tables.activeOperation(instanceId)),
    ...(bindingId === undefined ? {} : given('binding', tables.binding(instanceId, bindingId))),
    ...(bindingId === undefined ? {} : given('bindingOperation', tables.activeOperation(instanceId, bindingId))),
    ...(predecessorId === undefined ? {} : given('predecessor', tables.binding(instanceId, predecessorId))),
    liveBindings: live.length,
    busyBindings: tables.busyBindings(instanceId),
  }
}

function given<Key extends string, Value>(key: Key, value: Value | undefined): { [key in Key]?: Value } {
  return (value === undefined ? {} : { [key]: value }) as { [key in Key]?: Value }
}

function targetOf(tables: Tables, { instanceId, bindingId }: Operation): Target {
  if (bindingId === undefined) return { instanceId }
  return { instanceId, bindingId, ...given('predecessorId', tables.binding(instanceId, bindingId)?.predecessorId) }
}

function apply(tables: Tables, change: Change, wake: WakeUp[]): void {
  tables.apply(change)
  wake.push(...wakeUpsOf(change))
}

/** Queued operations are due at `notBefore`, running ones when their lease is over. */
function dueAt(operation: Operation): number {
  return operation.state === 'running' ? (operation.leaseUntil ?? 0) : operation.notBefore
}

type LeaseFields = Pick<Operation, 'fence'> & Required<Pick<Operation, 'leaseOwner' | 'leaseUntil'>>

function claim(tables: Tables, before: Operation, lease: LeaseFields, now: number): Claim {
  const takenOver = before.state === 'running'
  tables.putOperation({ ...claimed(before, now), ...lease })
  const instance = tables.instance(before.instanceId)
  const stored = tables.operation(before.id)
  if (instance === undefined || stored === undefined) throw new Error(`operation ${before.id} has no instance`)
  const { bindingId } = before
  const binding = bindingId === undefined ? undefined : tables.binding(before.instanceId, bindingId)
  return { operation: stored, instance, ...given('binding', binding), steps: tables.steps(before.id), takenOver }
}

function released({ leaseOwner: _owner, leaseUntil: _until, ...operation }: Operation): Operation {
  return operation
}

function described({ description }: Checkpoint | Parking): Pick<Operation, 'description'> {
  return description === undefined ? {} : { description }
}

function replaceState(tables: Tables, { instanceId, bindingId }: Operation, state: Checkpoint['state'] & object): void {
  const instance = tables.instance(instanceId)
  if (bindingId === undefined) {
    if (instance !== undefined) tables.putInstance({ ...instance, state })
    return
  }
  const binding = tables.binding(instanceId, bindingId)
  if (binding !== undefined) tables.putBinding({ ...binding, state })
}

function letSuccessorStart(tables: Tables, supersededId: string, now: number): void {
  for (const operation of [...tables.queue()]) {
    if (operation.drains !== supersededId || operation.state !== 'queued') continue
    tables.putOperation({ ...operation, notBefore: Math.min(operation.notBefore, now) })
  }
}

function isAlive(tables: Tables, holder: string | undefined, caller: string, now: number): boolean {
  if (holder === undefined || holder === caller) return false
  const operation = tables.operation(holder)
  if (operation === undefined) return false
  return operation.state === 'queued' || operation.state === 'running' || (operation.leaseUntil ?? 0) > now
}
