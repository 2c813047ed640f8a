import type { Cluster } from './cluster.ts'
import type { KubernetesObject } from './objects.ts'

export interface Applying {
  /** Whose fields these are. What a manager applied before and leaves out now is removed. */
  readonly manager: string
  /** Takes fields away from others who have changed them. */
  readonly force?: boolean
  readonly signal?: AbortSignal | undefined
}

/** Server-side apply: makes the object, or changes those of its fields that are given. Changes nothing where nothing differs. */
export function applyObject<Object extends KubernetesObject>(
  cluster: Pick<Cluster, 'call'>,
  path: string,
  body: object,
  { manager, force = false, signal }: Applying,
): Promise<Object> {
  const query = { fieldManager: manager, force }
  return cluster.call<Object>('PATCH', path, { query, body, contentType: 'application/apply-patch+yaml', signal })
}
