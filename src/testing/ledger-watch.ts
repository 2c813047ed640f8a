import { count } from '../shape/count.ts'
import type { Change, Checkpoint, Finishing, Instance, Lease, Operation, Store } from '../store.ts'

/**
 * Watches what a ledger is made to hold, and notes every breach of its promises: at most one active operation per
 * resource, a result that never changes, no step committed twice, fences that only rise, no period of a chore done twice,
 * nothing done while it is held,
 * nothing removed that is in progress or that an instance is pinned to, no instance deprovisioned while a binding of it is
 * being swept, nothing created under an id before what was deleted under it is swept. It stands directly on the store, below anything that crashes, so that it sees what happened and not what
 * somebody was told.
 */
export interface LedgerWatch {
  /** The same store, watched. Several stores over the same data, one after the other, share one watch. */
  wrap(store: Store): Store
  /** The breaches so far, in words. */
  problems(): readonly string[]
  /** Operations that have no result yet. */
  active(): readonly Operation[]
  /** The newest row that was written for each operation. Leases and descriptions are as of the last accept or finish. */
  operations(): ReadonlyMap<string, Operation>
  /** How often each step was committed: `<operation>/<step>`. */
  steps(): ReadonlyMap<string, number>
  /** Calls that are under way. */
  underWay(): number
}

export function createLedgerWatch(): LedgerWatch {
  const problems: string[] = []
  const operations = new Map<string, Operation>()
  const active = new Map<string, string>()
  const steps = new Map<string, number>()
  const taken = new Map<string, { readonly dueAt: number; readonly fence: number }>()
  const done = new Map<string, number>()
  const pinned = new Set<string>()
  /** Fences of what was claimed before its time: it can only be put back. */
  const held = new Set<number>()
  let highestFence = 0
  let underWay = 0

  async function during<T>(call: () => Promise<T>): Promise<T> {
    underWay += 1
    try {
      return await call()
    } finally {
      underWay -= 1
    }
  }

  function record(change: Change | undefined): void {
    if (change?.instance !== undefined && pinsOf(change.instance).length > 0) pinned.add(change.instance.id)
    for (const operation of change?.operations ?? []) put(operation)
    for (const id of change?.deleteOperations ?? []) forget(id)
  }

  function put(operation: Operation): void {
    const before = operations.get(operation.id)
    if (before !== undefined && !isActive(before) && before.state !== operation.state)
      problems.push(`${name(before)} was ${before.state} and became ${operation.state}`)
    forget(operation.id)
    operations.set(operation.id, operation)
    if (!isActive(operation)) return
    const other = active.get(resourceOf(operation))
    if (other !== undefined) problems.push(`${name(operation)} is active beside ${other}`)
    active.set(resourceOf(operation), operation.id)
  }

  function forget(id: string): void {
    const before = operations.get(id)
    operations.delete(id)
    if (before !== undefined && active.get(resourceOf(before)) === id) active.delete(resourceOf(before))
  }

  function checkHeld({ operationId, fence }: Lease): void {
    if (held.has(fence)) problems.push(`operation ${operationId} went on while it was held`)
  }

  /** An observation goes with its end, so that its row may be missing before this watch hears why. */
  async function checkActive(store: Store): Promise<void> {
    for (const operation of [...operations.values()].filter(isActive)) {
      const gone = operation.action !== 'observe' && (await store.operation(operation.id)) === undefined
      if (gone && active.has(resourceOf(operation))) problems.push(`${name(operation)} was removed while it was active`)
    }
  }

  async function brokenPins(store: Store): Promise<string[]> {
    const stored = new Set((await store.catalog())?.revisions.map(({ id }) => id))
    const rows = await Promise.all([...pinned].map(id => store.instance(id)))
    return rows.flatMap(row => {
      const gone = row && pinsOf(row).find(revisionId => !stored.has(revisionId))
      return gone === undefined ? [] : [`instance ${row?.id} is pinned to revision ${gone}, which was deleted`]
    })
  }

  /** Looks twice: what came back, and was pinned to, between the two reads of one look is no breach. */
  async function checkPins(store: Store): Promise<void> {
    const suspects = await brokenPins(store)
    if (suspects.length === 0) return
    const still = await brokenPins(store)
    problems.push(...suspects.filter(suspect => still.includes(suspect)))
  }

  return {
    problems: () => problems,
    active: () => [...operations.values()].filter(isActive),
    operations: () => operations,
    steps: () => steps,
    underWay: () => underWay,
    wrap: store => ({
      ...store,
      accept: (target, decide, taker) =>
        during(async () => {
          let change: Change | undefined
          const answer = await store.accept(
            target,
            snapshot => {
              const verdict = decide(snapshot)
              change = verdict.change
              return verdict
            },
            taker,
          )
          record(change)
          return answer
        }),
      finish: (lease, decide) =>
        during(async () => {
          let change: Change | undefined
          let breach: string | undefined
          const finished = await store.finish(lease, snapshot => {
            change = decide(snapshot)
            breach = unsweptAt(snapshot, change)
            return change
          })
          if (finished) record(change)
          if (finished) checkHeld(lease)
          if (finished && breach !== undefined) problems.push(breach)
          return finished
        }),
      claim: (owner, max, leaseTime, leftOut) =>
        during(async () => {
          // Answers of claims that were under way together come in any order.
          const before = highestFence
          const claimed = await store.claim(owner, max, leaseTime, leftOut)
          for (const { operation } of claimed.claims) {
            if (operation.fence <= before) problems.push(`${name(operation)} was claimed with an old fence`)
            highestFence = Math.max(highestFence, operation.fence)
            if (operation.hold !== undefined && claimed.now < operation.deadlineAt) held.add(operation.fence)
            put(operation)
          }
          return claimed
        }),
      checkpoint: (lease, checkpoint) =>
        during(async () => {
          const written = await store.checkpoint(lease, checkpoint)
          const operation = operations.get(lease.operationId)
          if (written && operation !== undefined && beginsUnswept(operation, checkpoint))
            problems.push(`${name(operation)} began before what was deleted under its id was swept`)
          if (written) checkHeld(lease)
          if (!written || checkpoint.step?.state !== 'done') return written
          const key = `${lease.operationId}/${checkpoint.step.name}`
          const count = (steps.get(key) ?? 0) + 1
          steps.set(key, count)
          if (count > 1) problems.push(`the step ${key} was committed ${count} times`)
          return written
        }),
      renew: (leases, leaseTime) => during(() => store.renew(leases, leaseTime)),
      park: (lease, parking) => during(() => store.park(lease, parking)),
      handBack: lease => during(() => store.handBack(lease)),
      share: (lease, key, wish) => during(() => store.share(lease, key, wish)),
      takeName: taking => during(() => store.takeName(taking)),
      renewName: (name, owner) => during(() => store.renewName(name, owner)),
      releaseName: (name, owner) => during(() => store.releaseName(name, owner)),
      instance: id => during(() => store.instance(id)),
      binding: (instanceId, id) => during(() => store.binding(instanceId, id)),
      bindings: instanceId => during(() => store.bindings(instanceId)),
      claimants: (key, most) => during(() => store.claimants(key, most)),
      operation: id => during(() => store.operation(id)),
      steps: operationId => during(() => store.steps(operationId)),
      dueForExpiry: max => during(() => store.dueForExpiry(max)),
      dueForObservation: max => during(() => store.dueForObservation(max)),
      takeChore: taking =>
        during(async () => {
          const { name: chore, dueAt } = taking
          const lease = await store.takeChore(taking)
          if (lease === undefined) return undefined
          if (lease.fence <= (taken.get(chore)?.fence ?? 0))
            problems.push(`the chore ${chore} was taken with an old fence`)
          if (dueAt <= (done.get(chore) ?? Number.NEGATIVE_INFINITY))
            problems.push(`the chore ${chore} was taken for ${dueAt}, which was done before`)
          taken.set(chore, { dueAt, fence: lease.fence })
          return lease
        }),
      renewChore: (lease, leaseTime) => during(() => store.renewChore(lease, leaseTime)),
      finishChore: (lease, result) =>
        during(async () => {
          const finished = await store.finishChore(lease, result)
          const run = taken.get(lease.name)
          if (finished && run?.fence === lease.fence) done.set(lease.name, run.dueAt)
          return finished
        }),
      chores: () => during(() => store.chores()),
      cleanUp: cleanUp =>
        during(async () => {
          const removed = await store.cleanUp(cleanUp)
          await checkActive(store)
          return removed
        }),
      purge: (before, max) =>
        during(async () => {
          const removed = await store.purge(before, max)
          await checkActive(store)
          return removed
        }),
      catalog: known => during(() => store.catalog(known)),
      registries: () => during(() => store.registries()),
      revisionUses: () => during(() => store.revisionUses()),
      changeCatalog: (version, changes, report) =>
        during(async () => {
          const written = await store.changeCatalog(version, changes, report)
          if (changes.deleteRevisions.length > 0) await checkPins(store)
          return written
        }),
    }),
  }
}

/** Until its sweep has ended, a creation keeps nothing but what that sweep does. */
function beginsUnswept({ input: { sweepFirst: first } }: Operation, { step, state }: Checkpoint): boolean {
  if (first === undefined) return false
  return state !== undefined || step?.name.startsWith(`${first.sweep.id}: `) === false
}

/**
 * A deprovision that succeeds says that nothing is left: so no sweep of a binding may be outstanding then. Nor may a
 * creation succeed that has to sweep first.
 */
function unsweptAt({ finishing, sweptBindings }: Finishing, { instance, operations = [] }: Change): string | undefined {
  const isCreated = operations.some(({ id, state }) => id === finishing.id && state === 'succeeded')
  if (finishing.input.sweepFirst !== undefined && isCreated)
    return `${name(finishing)} succeeded before what was deleted under its id was swept`
  if (finishing.action !== 'deprovision' || instance?.phase !== 'deleted' || sweptBindings === 0) return undefined
  return `${name(finishing)} succeeded while ${count(sweptBindings, 'binding')} of it were being swept`
}

function pinsOf({ revisionId, nextRevisionId }: Instance): string[] {
  return [revisionId, nextRevisionId].filter(id => id !== undefined)
}

function isActive({ state }: Operation): boolean {
  return state === 'queued' || state === 'running'
}

function resourceOf({ instanceId, bindingId = '' }: Operation): string {
  return `${instanceId}/${bindingId}`
}

function name({ action, id, instanceId, bindingId }: Operation): string {
  return `${action} ${id} of ${bindingId === undefined ? '' : `binding ${bindingId} of `}instance ${instanceId}`
}
