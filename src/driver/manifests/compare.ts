import { isDeepStrictEqual } from 'node:util'
import type { KubernetesObject } from '../../kubernetes/objects.ts'
import { withoutMarks } from './marks.ts'

/**
 * Whether they say the same, apart from what servers and controllers write by themselves. With `unmarked`, also apart from our marks:
 * an older version has made it without them.
 */
export function isSame(
  before: KubernetesObject | undefined,
  after: KubernetesObject | undefined,
  { unmarked = false } = {},
): boolean {
  return isDeepStrictEqual(before && contentOf(before, unmarked), after && contentOf(after, unmarked))
}

function contentOf(live: KubernetesObject, unmarked: boolean) {
  const own = { resourceVersion: undefined, generation: undefined, managedFields: undefined }
  const metadata = unmarked ? withoutMarks(live.metadata) : live.metadata
  return { ...live, status: undefined, metadata: { ...metadata, ...own } }
}
