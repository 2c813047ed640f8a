import { randomUUID } from 'node:crypto'
import { decideRemoveOrphan } from '../../domain/decide-remove-orphan.ts'
import { newId } from '../../domain/new-id.ts'
import type { Operation } from '../../domain/operation.ts'
import type { Acting } from '../../domain/operator.ts'
import { BrokerError } from '../../protocol/errors.ts'
import { accept } from '../accept.ts'
import type { BrokerContext } from '../context.ts'
import { sweepInstance } from '../verbs/sweep.ts'
import { tell } from '../verbs/tell.ts'
import { type Finding, type Found, findOrphans, type OrphanReport } from './find-orphans.ts'

export interface Removal extends Finding {
  /** The deprovision, unbind or sweep that removes it. */
  readonly operation?: string
}

/**
 * Removes what belongs to nobody, each by an operation of its own, in a transaction of its own: what this process does not come
 * to is found by the next one who asks, and what was begun goes on whatever becomes of this process.
 */
export async function removeOrphans(
  broker: BrokerContext,
  acting: Acting,
  { serviceId, dryRun }: { readonly serviceId?: string | undefined; readonly dryRun: boolean },
): Promise<OrphanReport<Removal>> {
  const { items, ...report } = await findOrphans(broker, serviceId)
  const removals: Removal[] = []
  for (const found of items.filter(({ kind }) => kind === 'orphan'))
    removals.push(dryRun || !found.removable ? found : await removeOne(broker, acting, found))
  return { ...report, items: removals }
}

async function removeOne(broker: BrokerContext, acting: Acting, found: Found): Promise<Removal> {
  try {
    const { id: operation } = await begin(broker, acting, found)
    return { ...found, operation }
  } catch (error) {
    if (!(error instanceof BrokerError)) throw error
    return { ...found, removable: false, reason: error.message }
  }
}

/** What was deleted here once is deleted once more; what the ledger never knew, or has forgotten, is deleted as what it was. */
async function begin(broker: BrokerContext, acting: Acting, found: Found): Promise<Operation> {
  const { instanceId = '', bindingId, createdAt, judged, service, state } = found
  const { revisionId } = service
  const target = { instanceId, bindingId }
  if (judged !== undefined && 'removal' in judged && judged.removal === 'sweep')
    return sweepInstance(broker, acting, bindingId === undefined ? { instanceId } : target, { state, revisionId })
  const { offering, actions } = service
  const { timeout } = actions[bindingId === undefined ? 'deprovision' : 'unbind']
  const ids = { instanceId, serviceId: offering.id, planId: offering.plans[0]?.id ?? '' }
  const removing = {
    ...acting,
    intent: { operationId: newId(broker.clock.now()), ...ids, timeout },
    holding: { instanceId, bindingId, createdAt },
    state,
    revisionId,
    dashboardToken: randomUUID(),
    minimumAge: broker.settings.orphans.minimumAge,
  }
  const begun = await accept(broker, target, snapshot => decideRemoveOrphan(snapshot, removing))
  tell(broker, 'remove-orphan', acting, { ...target, operationId: begun.id })
  return begun
}
