import type { User } from '../folders.ts'

/** What an operator says about bundles in a cluster. */
export interface KubernetesSettings {
  /** Where the broker is at home: what it remembers of its sandboxes is there. */
  readonly namespace?: string | undefined
  /** An image with a static busybox, for the programs of ours in a pod. */
  readonly toolsImage: string
  /** The ClusterRole that bundles get, in their own namespace and in the one that their service is for. */
  readonly sandboxRole: string
  /** Another one for some bundles. */
  readonly roles: readonly { readonly bundle: string; readonly role: string }[]
  /** Without it, users need the right to create `access.automationbroker.io` in the namespace that their service is for. */
  readonly autoEscalate: boolean
  /** Secrets of type dockerconfigjson in the broker's namespace, for images. */
  readonly pullSecrets: readonly string[]
  /** How long a pod may wait for a node or an image, in milliseconds. */
  readonly startTimeout: number
  /** Bytes that one action may write to the node, log included. */
  readonly disk: number
  /** People find copies of state and credentials in the broker's namespace. */
  readonly copies: boolean
  readonly nodeSelector: Readonly<Record<string, string>>
}

export interface PodSettings extends KubernetesSettings {
  readonly user: User
}
