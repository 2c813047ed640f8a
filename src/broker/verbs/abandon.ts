import type { Binding } from '../../domain/binding.ts'
import {
  type Abandoned,
  type AbandonIntent,
  checkAbandon,
  decideAbandon,
  decideAbandonBinding,
} from '../../domain/decide-abandon.ts'
import type { Instance } from '../../domain/instance.ts'
import { newId } from '../../domain/new-id.ts'
import { type Acting, checkSeen, remembered } from '../../domain/operator.ts'
import { operationFields } from '../../engine/operation-fields.ts'
import { BrokerError } from '../../protocol/errors.ts'
import type { Reads } from '../../reads.ts'
import type { BrokerContext } from '../context.ts'
import { deleteRevisionsAfter } from '../registries/delete-unused-revisions.ts'
import { createPlaceholder, sweepDelay } from '../resolve-services.ts'
import { tell } from './tell.ts'

export interface AbandonedInstance {
  readonly instance: Abandoned<Instance>
  readonly bindings: readonly Abandoned<Binding>[]
}

interface Wanted {
  readonly instanceId: string
  readonly bindings: boolean
}

/** Each round that is lost is one in which a platform has bound the instance again. */
const rounds = 10

/**
 * Ends an instance that nobody can delete, without its author's deprovision. Bindings go before it, each in a transaction of
 * its own: where this process dies in between, the instance is still there, and the operator repeats it.
 */
export async function abandonInstance(
  broker: BrokerContext,
  acting: Acting,
  wanted: Wanted,
): Promise<AbandonedInstance> {
  const { store, settings, services, clock } = broker
  const { instanceId } = wanted
  const target = { instanceId }
  const known = await store.accept(target, snapshot => {
    checkSeen(acting, snapshot.instance)
    return { answer: checkAbandon(snapshot, wanted) }
  })
  const service = services.of(known) ?? createPlaceholder(known.serviceId, settings)
  const intent = () => ({ ...acting, ...wanted, operationId: newId(clock.now()), sweepDelay: sweepDelay(service) })
  const bindings: Abandoned<Binding>[] = []
  const abandonBindings = async () => {
    for (const id of await idsOfBindings(store, instanceId))
      bindings.push(...(await abandonBinding(broker, intent(), id)))
  }
  for (let round = 0; round < rounds; round += 1) {
    await abandonBindings()
    const own = intent()
    // What is abandoned beside it after this is as good as never bound, and no part of what is remembered.
    const instance = await store.accept(target, snapshot => {
      const verdict = decideAbandon(snapshot, own)
      return verdict.answer === undefined
        ? verdict
        : {
            ...remembered(acting, { ...verdict, answer: { instance: verdict.answer, bindings } }),
            answer: verdict.answer,
          }
    })
    if (instance === undefined) continue
    // A bind that was accepted and has failed since they were listed: nothing new can come any more.
    await abandonBindings()
    tellOf(broker, acting, instance, instance.before)
    await deleteRevisionsAfter(broker, instance.before.revisionId)
    return { instance, bindings }
  }
  throw new BrokerError('ConcurrencyError', 'The instance is being bound again and again. Repeat the request.')
}

async function abandonBinding(
  broker: BrokerContext,
  intent: AbandonIntent,
  bindingId: string,
): Promise<Abandoned<Binding>[]> {
  const target = { instanceId: intent.instanceId, bindingId }
  const abandoned = await broker.store.accept(target, snapshot => decideAbandonBinding(snapshot, intent))
  if (abandoned === undefined) return []
  tellOf(broker, intent, abandoned)
  return [abandoned]
}

function tellOf(
  broker: BrokerContext,
  acting: Acting,
  { after, ended }: Abandoned<Instance | Binding>,
  instance?: Instance,
): void {
  const target =
    'instanceId' in after ? { instanceId: after.instanceId, bindingId: after.id } : { instanceId: after.id }
  const supersededBy = after.lastOperationId
  if (ended?.state === 'superseded')
    broker.observer['operation.superseded']?.({ ...operationFields(ended, instance), supersededBy })
  tell(broker, 'abandon', acting, { ...target, operationId: supersededBy })
}

/** Those that are not deleted, and those whose deletion is being swept. */
async function idsOfBindings(store: Reads, instanceId: string): Promise<ReadonlySet<string>> {
  const ids = new Set((await store.bindings(instanceId)).map(({ id }) => id))
  for (const state of ['queued', 'running'] as const) {
    let cursor: string | undefined
    do {
      const { items, next } = await store.listOperations({ of: { instanceId }, state, cursor })
      for (const { bindingId } of items) if (bindingId !== undefined) ids.add(bindingId)
      cursor = next
    } while (cursor !== undefined)
  }
  return ids
}
