import type { ObjectMode } from '../../bundle/manifests-shape.ts'
import { hash } from '../../expression/functions.ts'
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
  /** It goes when its action ends. */
  readonly passing?: boolean
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

export function keyOf({ apiVersion, kind, namespace = '', object, shared = '' }: Ref): string {
  return [apiVersion, kind, namespace, object, shared].join(' ')
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
  readonly instance: string
  readonly binding?: string
}

export const ownerLabel = 'purser.dev/owner'
export const brokerLabel = 'purser.dev/broker'
/** What the names of field managers begin with. */
export const managerPrefix = 'purser-'
export const instanceAnnotation = 'purser.dev/instance'

/** Of an object that several instances have, it is the claim. */
export function ownerIdOf({ broker, instance, binding }: Owner, shared?: string): string {
  return shared === undefined
    ? hash(JSON.stringify([broker, instance, binding]))
    : hash(JSON.stringify([broker, shared]))
}

export function managerOf(owner: Owner, shared?: string): string {
  return `${managerPrefix}${ownerIdOf(owner, shared)}`
}

/** What tells who has made it, and for whom. */
export function ownMetadata(owner: Owner, shared?: string): Pick<Metadata, 'labels' | 'annotations'> {
  return {
    labels: {
      'app.kubernetes.io/managed-by': 'purser',
      [brokerLabel]: hash(owner.broker),
      [ownerLabel]: ownerIdOf(owner, shared),
    },
    annotations: shared === undefined ? { [instanceAnnotation]: owner.instance } : {},
  }
}
