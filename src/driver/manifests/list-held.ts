import type { BackendItem } from '../../author/backend.ts'
import { isStatus } from '../../kubernetes/errors.ts'
import { groupOf, type Kind } from '../../kubernetes/kinds.ts'
import { listAll } from '../../kubernetes/list.ts'
import type { KubernetesObject } from '../../kubernetes/objects.ts'
import { BrokerError } from '../../protocol/errors.ts'
import { messageOf } from '../../shape/thrown.ts'
import { type FoundObject, toItems } from './held.ts'
import type { Made, ManifestService } from './parts.ts'
import { labelsOf } from './refs.ts'
import { toActionError } from './refusal.ts'

/**
 * What this broker has made of a service in the whole cluster: one request for each kind and 500 objects. Nothing is told before
 * all kinds have been read: half of an instance would look older than it is.
 */
export async function* listHeld(
  { parts, revision: { serviceId: service } }: ManifestService,
  signal: AbortSignal,
): AsyncGenerator<BackendItem> {
  const broker = await parts.brokerId()
  const labels = labelsOf({ broker, service })
  const found: FoundObject[] = []
  for (const made of once(parts.kinds(service).filter(({ mode }) => mode === 'object')))
    for (const { metadata } of await listKind(parts, made, { labels, signal })) found.push({ ...made, metadata })
  yield* toItems(found, { broker, service })
}

/** A kind that the cluster does not know has no objects. */
async function listKind(
  { open }: Pick<ManifestService['parts'], 'open'>,
  made: Made,
  { labels, signal }: { readonly labels: string; readonly signal: AbortSignal },
): Promise<readonly KubernetesObject[]> {
  let kind: Kind | undefined
  try {
    const { cluster, findKind } = await open()
    kind = await findKind(made, signal)
    if (kind === undefined) return []
    return (await listAll<KubernetesObject>(cluster, kind.path(), { labels, metadataOnly: true, signal })).items
  } catch (error) {
    signal.throwIfAborted()
    throw toRefusal(error, made, kind)
  }
}

function toRefusal(error: unknown, { apiVersion, kind: name }: Made, kind: Kind | undefined): unknown {
  const what = `${apiVersion}/${name}`
  if (kind !== undefined && isStatus(error, 403)) {
    const resource = kind.path().split('/').at(-1)
    const group = groupOf(apiVersion) === '' ? 'the core API group' : `the API group "${groupOf(apiVersion)}"`
    const right = `the verb "list" on the resource "${resource}" of ${group}, in all namespaces`
    return new BrokerError('BackendNotListed', `${what}: the broker's account needs ${right}. Nothing was judged.`)
  }
  const told = toActionError(error, what, text => text)
  if (told === error) return error
  return new BrokerError('BackendNotListed', `${messageOf(told).replace(/\.$/, '')}. Nothing was judged.`, {
    cause: error,
  })
}

function once(kinds: readonly Made[]): readonly Made[] {
  return [...new Map(kinds.map(({ apiVersion, kind }) => [`${apiVersion} ${kind}`, { apiVersion, kind }])).values()]
}
