import { BrokerError } from '../protocol/errors.ts'
import type { JsonObject } from '../protocol/json.ts'
import type { Binding } from './binding.ts'
import type { Snapshot, Verdict } from './change.ts'
import type { Instance } from './instance.ts'
import { newOperation, type OperationIntent } from './intent.ts'
import { type Holding, judgeOrphan } from './judge-orphan.ts'
import type { Operation } from './operation.ts'
import { type Acting, acted } from './operator.ts'

export interface RemoveOrphanIntent extends Acting {
  readonly intent: OperationIntent & { readonly planId: string }
  readonly holding: Holding
  /** What the author's action finds. */
  readonly state: JsonObject
  readonly revisionId?: string
  readonly dashboardToken: string
  readonly minimumAge: number
}

/** No platform has it, so that none can see or delete it. */
const nobody = ''

/**
 * Removes what a backend has and the ledger does not: it gets a row that is in deletion, so that from here on its deprovision, or
 * unbind, is an operation as any other. Judged once more under the lock: whoever has asked for the same id meanwhile has it.
 */
export function decideRemoveOrphan(snapshot: Snapshot, removing: RemoveOrphanIntent): Verdict<Operation> {
  const { now } = snapshot
  const { intent, holding, minimumAge, state } = removing
  const judged = judgeOrphan(holding, snapshot, { now, minimumAge })
  if (judged.kind === 'owned') throw new BrokerError('VerbRefused', 'It belongs to somebody by now.')
  if (!('removal' in judged)) throw new BrokerError('VerbRefused', judged.reason)
  const { instanceId, serviceId, planId } = intent
  const { bindingId } = holding
  const action = bindingId === undefined ? 'deprovision' : 'unbind'
  const platform = snapshot.instance?.platform ?? nobody
  const operation = newOperation({ ...intent, platform }, action, now, { bindingId })
  const common = { serviceId, planId, phase: 'deleting', requestHash: '', context: {}, parameters: {}, state } as const
  const times = { lastOperationId: operation.id, createdAt: now, updatedAt: now }
  const event = acted('remove-orphan', removing, {
    ...{ at: now, instanceId, bindingId, operationId: operation.id, action },
    before: {},
    after: { phase: 'deleting', service: serviceId },
  })
  const written = { operations: [operation], history: [event] }
  if (bindingId !== undefined) {
    const binding: Binding = { ...common, ...times, instanceId, id: bindingId, bindResource: {}, result: {} }
    return { answer: operation, change: { ...written, bindings: [binding] } }
  }
  const { revisionId, dashboardToken } = removing
  const row = { id: instanceId, platform, created: true, usable: false, conditions: [], revisionId, dashboardToken }
  const instance: Instance = { ...common, ...times, ...row }
  return { answer: operation, change: { ...written, instance } }
}
