/** Rows and moves that the cases are made of. The rows are complete and dull; a case names only what it is about. */
import { decideSaveState } from '../../domain/decide-save-state.ts'
import type { JsonObject } from '../../protocol/json.ts'
import type { Binding, Claim, Instance, Lease, Operation, Snapshot, Step, Store, Taker } from '../../store.ts'
import { assert } from './assert.ts'

export const leaseTime = 30_000

export function instanceRow(id: string, overrides: Partial<Instance> = {}): Instance {
  return {
    id,
    platform: 'cf',
    serviceId: 'service',
    planId: 'plan',
    phase: 'creating',
    created: false,
    usable: true,
    requestHash: 'hash',
    context: { organization_guid: 'org', space_guid: 'space' },
    parameters: {},
    state: {},
    dashboardToken: 'token',
    conditions: [],
    lastOperationId: `${id}:provision`,
    createdAt: 1,
    updatedAt: 1,
    ...overrides,
  }
}

export function bindingRow(instanceId: string, id: string, overrides: Partial<Binding> = {}): Binding {
  return {
    instanceId,
    id,
    serviceId: 'service',
    planId: 'plan',
    phase: 'creating',
    requestHash: 'hash',
    context: {},
    bindResource: {},
    parameters: {},
    state: {},
    result: {},
    lastOperationId: `${instanceId}:${id}:bind`,
    createdAt: 1,
    updatedAt: 1,
    ...overrides,
  }
}

export function operationRow(id: string, instanceId: string, overrides: Partial<Operation> = {}): Operation {
  return {
    id,
    instanceId,
    serviceId: 'service',
    action: 'provision',
    state: 'queued',
    requestHash: 'hash',
    input: {},
    attempt: 0,
    losses: 0,
    notBefore: 0,
    deadlineAt: 9_000_000_000_000,
    fence: 0,
    unclean: false,
    acceptedAt: 1,
    ...overrides,
  }
}

export function stepRow(name: string, overrides: Partial<Step> = {}): Step {
  return { name, state: 'done', attempts: 1, startedAt: 1, ...overrides }
}

/** Accepts a provision that is due at once; its operation is called `<id>:provision`. */
export function provision(
  store: Store,
  id: string,
  overrides: Partial<Operation> = {},
  taker?: Taker,
): Promise<string> {
  return store.accept(
    { instanceId: id },
    ({ now }) => {
      // A taker takes what is due at once.
      const times = taker === undefined ? {} : { notBefore: now, acceptedAt: now }
      const operation = operationRow(`${id}:provision`, id, { ...times, ...overrides })
      return { answer: operation.id, change: { instance: instanceRow(id), operations: [operation] } }
    },
    taker,
  )
}

/** Accepts a bind that is due at once; its operation is called `<instance>:<binding>:bind`. */
export function bind(
  store: Store,
  instanceId: string,
  id: string,
  overrides: Partial<Operation> = {},
): Promise<string> {
  const operation = operationRow(`${instanceId}:${id}:bind`, instanceId, {
    action: 'bind',
    bindingId: id,
    ...overrides,
  })
  return store.accept({ instanceId, bindingId: id }, () => ({
    answer: operation.id,
    change: { bindings: [bindingRow(instanceId, id)], operations: [operation] },
  }))
}

/** An instance that stands, without an operation. */
export function standing(store: Store, id: string, overrides: Partial<Instance> = {}): Promise<void> {
  return store.accept({ instanceId: id }, () => ({
    answer: undefined,
    change: { instance: instanceRow(id, { phase: 'ready', created: true, ...overrides }) },
  }))
}

/** A DELETE that takes over from the active operation and waits for its lease to end. */
export function supersede(store: Store, instanceId: string, successorId: string): Promise<boolean> {
  return store.accept({ instanceId }, snapshot => {
    const { operation } = snapshot
    if (operation === undefined) return { answer: false }
    const successor = operationRow(successorId, instanceId, {
      action: 'deprovision',
      drains: operation.id,
      notBefore: operation.leaseUntil ?? snapshot.now,
    })
    return { answer: true, change: { operations: [{ ...operation, state: 'superseded' }, successor] } }
  })
}

export async function claimOne(store: Store, owner = 'worker'): Promise<Claim> {
  const { claims } = await store.claim(owner, 1, leaseTime)
  const [claim] = claims
  assert.ok(claim, 'an operation was due, and none was claimed')
  return claim
}

export function leaseOf({ operation }: Claim): Lease {
  return { operationId: operation.id, fence: operation.fence }
}

/** As an observation saves state on its way. */
export function saveState(store: Store, instanceId: string, lease: Lease, patch: JsonObject): Promise<boolean> {
  const saving = { ...lease, merge: (state: JsonObject) => ({ ...state, ...patch }) }
  return store.accept({ instanceId }, snapshot => decideSaveState(snapshot, saving))
}

/** Ends the operation as succeeded; its instance becomes ready. */
export function finish(store: Store, lease: Lease): Promise<boolean> {
  return store.finish(lease, ({ finishing, instance, now }) => ({
    ...(instance === undefined ? {} : { instance: { ...instance, phase: 'ready', created: true } }),
    operations: [{ ...finishing, state: 'succeeded', finishedAt: now }],
  }))
}

export async function snapshotOf(
  store: Store,
  target: { instanceId: string; bindingId?: string; predecessorId?: string },
): Promise<Snapshot> {
  return store.accept(target, snapshot => ({ answer: snapshot }))
}

/** Everything the store shows about one instance, for "this changed nothing". */
export async function view(store: Store, instanceId: string, ...operationIds: string[]): Promise<unknown> {
  return {
    instance: await store.instance(instanceId),
    bindings: await store.bindings(instanceId),
    history: await store.history(instanceId),
    operations: await Promise.all(operationIds.map(id => store.operation(id))),
  }
}

/** Without the keys that are undefined: for a store they are the same as absent ones, for `deepEqual` they are not. */
export function present<Row extends object>(row: Row): Row {
  return Object.fromEntries(Object.entries(row).filter(([, value]) => value !== undefined)) as Row
}
