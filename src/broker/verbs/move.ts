import { decideMove } from '../../domain/decide-move.ts'
import type { Instance } from '../../domain/instance.ts'
import { type Acting, checkSeen, remembered } from '../../domain/operator.ts'
import type { Revision } from '../../domain/revision.ts'
import { BrokerError } from '../../protocol/errors.ts'
import { RevisionGoneError } from '../../store.ts'
import type { BrokerContext } from '../context.ts'
import { deleteRevisionsAfter } from '../registries/delete-unused-revisions.ts'
import { tell } from './tell.ts'

export interface MovedInstance {
  readonly instance: Instance
  readonly from: string
}

/** Pins an instance to another revision of its service: the one that is offered now, unless it is named. */
export async function moveInstance(
  broker: BrokerContext,
  acting: Acting,
  { instanceId, revisionId }: { readonly instanceId: string; readonly revisionId?: string },
): Promise<MovedInstance> {
  const to = await findTarget(broker, instanceId, revisionId)
  try {
    const moved = await broker.store.accept({ instanceId }, snapshot => {
      checkSeen(acting, snapshot.instance)
      return remembered(acting, decideMove(snapshot, { ...acting, to }))
    })
    if (moved.from !== moved.instance.revisionId) {
      tell(broker, 'move', acting, { instanceId })
      await deleteRevisionsAfter(broker, moved.from)
    }
    return moved
  } catch (error) {
    throw error instanceof RevisionGoneError ? unknownRevision(to.id) : error
  }
}

/** The revision to move to; refuses one that the broker does not have. */
export async function findTarget(
  { store }: BrokerContext,
  instanceId: string,
  wanted: string | undefined,
): Promise<Revision> {
  const [instance, catalog] = await Promise.all([store.instance(instanceId), store.catalog()])
  if (instance === undefined) throw new BrokerError('InstanceNotFound', 'There is no instance with this id.')
  const offered = catalog?.services.find(({ serviceId }) => serviceId === instance.serviceId)?.revisionId
  const id = wanted ?? offered
  const revision = catalog?.revisions.find(candidate => candidate.id === id)
  if (revision !== undefined) return revision
  if (id !== undefined) throw unknownRevision(id)
  throw new BrokerError('VerbRefused', 'The service of the instance came from no registry: it has no revisions.')
}

export function unknownRevision(id: string): BrokerError {
  return new BrokerError(
    'UnknownRevision',
    `The broker has no revision "${id}". GET /admin/registries lists those that are offered or in use.`,
  )
}
