import { BrokerError } from '../protocol/errors.ts'
import type { Snapshot, Verdict } from './change.ts'
import { type Instance, liveInstance } from './instance.ts'
import { busy } from './intent.ts'
import { type Acting, acted } from './operator.ts'
import type { Revision } from './revision.ts'

export interface MoveIntent extends Acting {
  /** Stored, and never changed: what is decided from it stays true. That it is still there is the store's to check. */
  readonly to: Pick<Revision, 'id' | 'serviceId' | 'offering'>
}

export interface Moved {
  readonly instance: Instance
  /** What it was pinned to before; the same where it was there already. */
  readonly from: string
}

/**
 * Pins an instance to another revision of its service, which acts on it from then on. Nothing is run for it: its
 * `maintenanceVersion` stays, so that a platform can still upgrade it. Whatever is active on it, or on a binding of it, runs
 * with the revision that it began with, and has to end first.
 */
export function decideMove(snapshot: Snapshot, intent: MoveIntent): Verdict<Moved> {
  const { operation, now } = snapshot
  const instance = liveInstance(snapshot.instance)
  const { id: instanceId, revisionId: from, serviceId, planId } = instance
  const { to } = intent
  if (from === undefined)
    throw new BrokerError(
      'VerbRefused',
      'The instance is pinned to no revision: its service is in the code of the broker, or is not known yet.',
    )
  if (to.serviceId !== serviceId)
    throw new BrokerError(
      'UnknownRevision',
      `Revision "${to.id}" is one of service ${to.serviceId}, and the instance is of service ${serviceId}.`,
    )
  if (!to.offering.plans.some(plan => plan.id === planId))
    throw new BrokerError('VerbRefused', `Revision "${to.id}" has no plan ${planId}, which the instance has.`)
  if (operation !== undefined) throw busy(operation, 'The instance')
  if (snapshot.busyBindings + snapshot.sweptBindings > 0) throw busy(undefined, 'A binding of the instance')
  if (to.id === from) return { answer: { instance, from } }
  const moved: Instance = { ...instance, revisionId: to.id, updatedAt: now }
  const event = acted('move', intent, {
    at: now,
    instanceId,
    before: { revision: from },
    after: { revision: to.id },
  })
  return { answer: { instance: moved, from }, change: { instance: moved, history: [event] } }
}
