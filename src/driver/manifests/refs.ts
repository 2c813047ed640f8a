import type { ObjectMode } from '../../bundle/manifests-shape.ts'
import { hash } from '../../expression/functions.ts'
import { groupOf } from '../../kubernetes/kinds.ts'
import type { Metadata } from '../../kubernetes/objects.ts'
import { isJsonObject, type Json, type JsonObject } from '../../protocol/json.ts'

/** One thing that was made, or is about to be: written before the cluster hears of it. */
export interface Ref {
  /** What the template calls it. */
  readonly name: string
  readonly mode: Exclude<ObjectMode, 'read'>
  readonly apiVersion: string
  readonly kind: string
  readonly namespace?: string
  readonly object: string
  /** The claim, where several instances have it. */
  readonly shared?: string
  /** It says for whom it is, if more than one may have it. Older versions did not write that. */
  readonly marked?: boolean
  /** It goes when its action ends. */
  readonly passing?: boolean
  /** Of a binding: what was applied, so that the same is put back, whatever its instance has become since. */
  readonly body?: JsonObject
  /** Whose it is, where it goes with the instance that nobody has any more. */
  readonly binding?: string
}

/** What the ledger keeps of an instance or a binding. */
export interface ManifestState {
  readonly objects: readonly Ref[]
  readonly generated: JsonObject
  /** What the spec asked to be kept. */
  readonly values: JsonObject
  /** Everything has been made and was ready once. */
  readonly made: boolean
  /** An operation whose objects were refused: what there was of them is removed, and then it fails with this. */
  readonly refused?: { readonly operation: string; readonly message: string }
  /** When what others changed was put back, by object. */
  readonly repairs: Readonly<Record<string, readonly number[]>>
}

export function readManifestState({ objects, generated, values, made, refused, repairs }: JsonObject): ManifestState {
  return {
    objects: Array.isArray(objects) ? (objects as unknown as readonly Ref[]) : [],
    generated: mapOf(generated),
    values: mapOf(values),
    made: made === true,
    refused: isJsonObject(refused)
      ? { operation: String(refused.operation), message: String(refused.message) }
      : undefined,
    repairs: mapOf(repairs) as ManifestState['repairs'],
  }
}

function mapOf(value: Json | undefined): JsonObject {
  return isJsonObject(value) ? value : {}
}

export function toJsonRefs(refs: readonly Ref[]): Json {
  return JSON.parse(JSON.stringify(refs))
}

/** The same in all versions of its kind: they show one object. */
export function keyOf({ apiVersion, kind, namespace = '', object, shared = '' }: Omit<Ref, 'name' | 'mode'>): string {
  return [groupOf(apiVersion), kind, namespace, object, shared].join(' ')
}

/** For people. */
export function nameOf({
  kind,
  object,
  name,
}: Pick<Ref, 'kind'> & { readonly object?: string; readonly name?: string }) {
  return `${kind} ${object ?? name ?? ''}`.trim()
}

/** Whose an object is. */
export interface Owner {
  readonly broker: string
  readonly service: string
  readonly instance: string
  readonly binding?: string
}

export const ownerLabel = 'purser.dev/owner'
export const brokerLabel = 'purser.dev/broker'
export const serviceLabel = 'purser.dev/service'
/** What the names of field managers begin with. */
export const managerPrefix = 'purser-'
export const instanceAnnotation = 'purser.dev/instance'
export const bindingAnnotation = 'purser.dev/binding'
export const orderAnnotation = 'purser.dev/order'

/** Of an object that several instances have, it is the claim. */
export function ownerIdOf({ broker, instance, binding }: Omit<Owner, 'service'>, shared?: string): string {
  return shared === undefined
    ? hash(JSON.stringify([broker, instance, binding]))
    : hash(JSON.stringify([broker, shared]))
}

export function managerOf(owner: Omit<Owner, 'service'>, shared?: string): string {
  return `${managerPrefix}${ownerIdOf(owner, shared)}`
}

/** Who has made it, for whom, and as which of its objects. Of one that several instances have, only what all of them would say. */
export function ownMetadata(
  owner: Owner,
  { shared, order }: { readonly shared?: string | undefined; readonly order: number },
): Required<Pick<Metadata, 'labels' | 'annotations'>> {
  const labels = {
    'app.kubernetes.io/managed-by': 'purser',
    [brokerLabel]: hash(owner.broker),
    [ownerLabel]: ownerIdOf(owner, shared),
  }
  if (shared !== undefined) return { labels, annotations: {} }
  const { service, instance, binding } = owner
  return {
    labels: { ...labels, [serviceLabel]: hash(service) },
    annotations: {
      [instanceAnnotation]: instance,
      ...(binding !== undefined && { [bindingAnnotation]: binding }),
      [orderAnnotation]: String(order),
    },
  }
}

/** Selects what one service has made for its instances and bindings. */
export function labelsOf({ broker, service }: Pick<Owner, 'broker' | 'service'>): string {
  return `${brokerLabel}=${hash(broker)},${serviceLabel}=${hash(service)}`
}
