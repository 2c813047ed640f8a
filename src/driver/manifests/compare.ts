import { isDeepStrictEqual } from 'node:util'
import type { KubernetesObject } from '../../kubernetes/objects.ts'

/** Whether they say the same, apart from what servers and controllers write by themselves. */
export function isSame(before: KubernetesObject | undefined, after: KubernetesObject | undefined): boolean {
  return isDeepStrictEqual(before && contentOf(before), after && contentOf(after))
}

function contentOf(live: KubernetesObject) {
  const own = { resourceVersion: undefined, generation: undefined, managedFields: undefined }
  return { ...live, status: undefined, metadata: { ...live.metadata, ...own } }
}
