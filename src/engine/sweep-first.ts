import type { Change, Finishing } from '../domain/change.ts'
import type { Operation, Step } from '../domain/operation.ts'
import { sweepOf } from '../domain/sweep-first.ts'
import type { Claim, Lease, Ledger } from '../ledger.ts'
import type { JsonObject } from '../protocol/json.ts'
import type { Tools } from './run.ts'

/** What a run works with: the operation that was claimed, or the sweep that this one does first. */
export interface Turn {
  readonly claim: Claim
  readonly tools: Tools
  /** The operation that goes on when the sweep has ended. */
  readonly before?: Operation
}

/**
 * A creation that has to sweep first is run as that sweep, an operation like any other to its run: with its own id, and with
 * the rows of what was deleted. What it writes goes to the row of the creation, whose lease it runs under. When the time of
 * the creation itself is up, it is run as what it is, so that it fails.
 */
export function turnOf(claim: Claim, tools: Tools, now: number): Turn {
  const { operation } = claim
  const first = operation.input.sweepFirst
  if (first === undefined || now >= operation.deadlineAt) return { claim, tools }
  const { instance = claim.instance, binding } = first
  const prefix = `${first.sweep.id}: `
  const own = claim.steps.filter(({ name }) => name.startsWith(prefix))
  const steps = own.map(step => ({ ...step, name: step.name.slice(prefix.length) }))
  const sweep = { ...claim, operation: sweepOf(operation, first), instance, binding, steps }
  return { claim: sweep, tools: { ...tools, store: sweepLedger(tools.store, claim, prefix) }, before: operation }
}

/** The ledger as the sweep sees it. Platforms poll the creation, so what the sweep says of itself is not for them. */
function sweepLedger(store: Ledger, { operation }: Claim, prefix: string): Ledger {
  const prefixed = (step: Step | undefined) => step && { ...step, name: prefix + step.name }
  /** Not the end of the creation: its row changes, while the lease is held. */
  const change = (lease: Lease, decide: (snapshot: Finishing) => Change) =>
    store.accept({ instanceId: operation.instanceId, bindingId: operation.bindingId }, snapshot => {
      const finishing = operation.bindingId === undefined ? snapshot.operation : snapshot.bindingOperation
      const { operationId, fence } = lease
      if (finishing?.id !== operationId || finishing.fence !== fence || finishing.state !== 'running')
        return { answer: false }
      return { answer: true, change: decide({ ...snapshot, finishing }) }
    })
  return {
    ...store,
    checkpoint: (lease, { step, state }) =>
      state === undefined
        ? store.checkpoint(lease, { step: prefixed(step) })
        : change(lease, ({ finishing }) => ({ operations: [withState(finishing, state)] })),
    park: (lease, { until, step }) => store.park(lease, { until, step: prefixed(step) }),
    finish: change,
  }
}

/** What the author's deletion saves belongs to the tombstone. */
function withState(operation: Operation, state: JsonObject): Operation {
  const { sweepFirst: first } = operation.input
  if (first === undefined) return operation
  const { instance, binding } = first
  const saved = { instance: instance && { ...instance, state }, binding: binding && { ...binding, state } }
  return { ...operation, input: { ...operation.input, sweepFirst: { ...first, ...saved } } }
}
