import { type Cluster, type ClusterOptions, connectCluster } from './cluster.ts'
import type { ClusterSettings } from './cluster-settings.ts'
import { createKinds, type FindKind } from './kinds.ts'

/** A cluster, and what it calls its kinds. */
export interface OpenCluster {
  readonly cluster: Cluster
  readonly findKind: FindKind
}

/** Connects when it is asked first. What fails is tried again with the next question. */
export function openClusterLater(settings: ClusterSettings, options: ClusterOptions): () => Promise<OpenCluster> {
  let opened: Promise<OpenCluster> | undefined
  const open = async () => {
    const cluster = await connectCluster(settings, options)
    return { cluster, findKind: createKinds(cluster) }
  }
  return () => {
    opened ??= open().catch(error => {
      opened = undefined
      throw error
    })
    return opened
  }
}
