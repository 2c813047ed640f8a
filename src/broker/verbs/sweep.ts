import type { Binding } from '../../domain/binding.ts'
import { decideSweep, type FoundAgain } from '../../domain/decide-sweep.ts'
import type { Instance } from '../../domain/instance.ts'
import { newId } from '../../domain/new-id.ts'
import type { Operation } from '../../domain/operation.ts'
import { type Acting, checkSeen, remembered } from '../../domain/operator.ts'
import { BrokerError } from '../../protocol/errors.ts'
import type { Reads } from '../../reads.ts'
import { accept } from '../accept.ts'
import type { BrokerContext } from '../context.ts'
import { tell } from './tell.ts'

/** Deletes once more what is deleted: the instance, or the one binding that is named; with what was `found` of it, if anything. */
export async function sweepInstance(
  broker: BrokerContext,
  acting: Acting,
  target: { readonly instanceId: string; readonly bindingId?: string },
  found?: FoundAgain,
): Promise<Operation> {
  const instance = await broker.store.instance(target.instanceId)
  if (instance === undefined) throw new BrokerError('InstanceNotFound', 'There is no instance with this id.')
  const { bindingId } = target
  const sweeping = { ...acting, ...(await sweepOf(broker, instance, { bindingId, found })), bindingId, found }
  const begun = await accept(broker, target, snapshot => {
    checkSeen(acting, snapshot.instance)
    return remembered(acting, decideSweep(snapshot, sweeping))
  })
  tell(broker, 'sweep', acting, { ...target, operationId: begun.id })
  return begun
}

/** What a sweep of it would be made of. */
export async function sweepOf(
  { store, services, settings, clock }: BrokerContext,
  instance: Instance,
  { bindingId, found }: { readonly bindingId?: string | undefined; readonly found?: FoundAgain | undefined } = {},
) {
  const { id: instanceId, serviceId, revisionId = found?.revisionId } = instance
  const { deprovision: timeout } = settings.engine.timeouts
  const intent = { operationId: newId(clock.now()), instanceId, serviceId, timeout }
  const unbind = bindingId === undefined ? await inDoubt(store, instance) : []
  return { intent, unbind, possible: services.of({ serviceId, revisionId }) !== undefined }
}

/** Bindings that went with the instance, and of which a call of the bind may have landed since. */
async function inDoubt(store: Reads, { id: instanceId, deletedAt }: Instance): Promise<readonly Binding[]> {
  if (deletedAt === undefined) return []
  const found: Binding[] = []
  let cursor: string | undefined
  do {
    const page = await store.listBindings({ instanceId, phase: 'deleted', limit: 200, cursor })
    for (const { id } of page.items.filter(summary => summary.deletedAt === deletedAt)) {
      const binding = await store.binding(instanceId, id)
      if (binding?.uncleanUntil !== undefined) found.push(binding)
    }
    cursor = page.next
  } while (cursor !== undefined)
  return found
}
