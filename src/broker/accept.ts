import type { Snapshot, Verdict } from '../domain/change.ts'
import type { Instance } from '../domain/instance.ts'
import type { Accepted } from '../domain/intent.ts'
import type { Operation } from '../domain/operation.ts'
import { operationFields } from '../engine/operation-fields.ts'
import type { Target } from '../ledger.ts'
import type { BrokerContext, Caller } from './context.ts'

/** Lets the ledger decide, and tells which operation it has accepted and which ones had to make room for it. */
export async function accept<Answer>(
  { store, observer }: Pick<BrokerContext, 'store' | 'observer'>,
  target: Target,
  decide: (snapshot: Snapshot) => Verdict<Answer>,
  caller?: Pick<Caller, 'traceparent' | 'onOperation'>,
): Promise<Answer> {
  let operations: readonly Operation[] = []
  let instance: Instance | undefined
  // A store may ask again after a conflict: the last answer is the one that was written.
  const answer = await store.accept(target, snapshot => {
    const verdict = decide(snapshot)
    operations = verdict.change?.operations ?? []
    instance = verdict.change?.instance ?? snapshot.instance
    return verdict
  })
  const { operation: answered, wait = false } = (answer ?? {}) as Partial<Accepted>
  if (answered !== undefined) caller?.onOperation?.(answered.id)
  const accepted = operations.find(operation => operation.state === 'queued')
  if (accepted === undefined) return answer
  for (const operation of operations)
    if (operation.state === 'superseded')
      observer['operation.superseded']?.({ ...operationFields(operation, instance), supersededBy: accepted.id })
  observer['operation.accepted']?.({
    ...operationFields(accepted, instance),
    deadlineAt: accepted.deadlineAt,
    synchronous: wait,
    traceparent: caller?.traceparent,
  })
  return answer
}
