/** The objects of Kubernetes, as far as they are used here. Times are texts, as in JSON. */
export interface Metadata {
  readonly name?: string
  readonly generateName?: string
  readonly namespace?: string
  readonly uid?: string
  readonly resourceVersion?: string
  readonly creationTimestamp?: string
  readonly deletionTimestamp?: string
  readonly deletionGracePeriodSeconds?: number
  readonly finalizers?: readonly string[]
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
  readonly managedFields?: readonly ManagedFields[]
}

/** Which fields somebody has set, by the name that they gave. */
export interface ManagedFields {
  readonly manager?: string
  readonly operation?: string
  readonly subresource?: string
  readonly fieldsV1?: unknown
}

export interface KubernetesObject {
  readonly apiVersion?: string
  readonly kind?: string
  readonly metadata: Metadata
}

export interface KubernetesList<Item extends KubernetesObject> {
  readonly metadata: { readonly resourceVersion?: string; readonly continue?: string }
  readonly items: readonly Item[]
}
