import type { Cluster } from './cluster.ts'
import type { KubernetesObject } from './objects.ts'

export interface Applying {
  /** Whose fields these are. What a manager applied before and leaves out now is removed. */
  readonly manager: string
  /** Takes fields away from others who have changed them. */
  readonly force?: boolean
  /** Writes nothing, and answers what would be there. */
  readonly dryRun?: boolean
  readonly signal?: AbortSignal | undefined
}

/**
 * Server-side apply: makes the object, or changes those of its fields that are given. Changes nothing where nothing differs; an empty
 * map in the metadata of a custom resource is written anew each time.
 */
export function applyObject<Object extends KubernetesObject>(
  cluster: Pick<Cluster, 'call'>,
  path: string,
  body: object,
  { manager, force = false, dryRun = false, signal }: Applying,
): Promise<Object> {
  const query = { fieldManager: manager, force, dryRun: dryRun ? 'All' : undefined }
  return cluster.call<Object>('PATCH', path, { query, body, contentType: 'application/apply-patch+yaml', signal })
}
