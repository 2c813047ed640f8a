import type { Cluster } from './cluster.ts'
import { isStatus } from './errors.ts'
import type { KubernetesList, KubernetesObject } from './objects.ts'

export interface Listed<Item> {
  readonly items: readonly Item[]
  /** What a watch goes on from. */
  readonly version: string
}

export interface Listing {
  readonly labels?: string | undefined
  readonly fields?: string | undefined
  /** Nothing of them but their metadata: what is in a Secret is not even sent. */
  readonly metadataOnly?: boolean
  readonly signal?: AbortSignal | undefined
}

/** All of them, page by page. Begins anew where the pages have expired meanwhile (410). */
export async function listAll<Item extends KubernetesObject>(
  cluster: Pick<Cluster, 'call'>,
  path: string,
  { labels, fields, metadataOnly = false, signal }: Listing = {},
): Promise<Listed<Item>> {
  const items: Item[] = []
  let from: string | undefined
  for (;;) {
    try {
      const query = { labelSelector: labels, fieldSelector: fields, limit: pageSize, continue: from }
      const page = await cluster.call<KubernetesList<Item>>('GET', path, {
        query,
        accept: metadataOnly ? metadataList : undefined,
        signal,
      })
      // An empty list of metadata is null.
      items.push(...(page.items ?? []))
      from = page.metadata.continue || undefined
      if (from === undefined) return { items, version: page.metadata.resourceVersion ?? '' }
    } catch (error) {
      if (from === undefined || !isStatus(error, 410)) throw error
      items.length = 0
      from = undefined
    }
  }
}

const pageSize = 500
const metadataList = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1'
