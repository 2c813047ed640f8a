import type { Cluster } from './cluster.ts'
import { isStatus, KubernetesError } from './errors.ts'

/** A kind of objects that a cluster serves. */
export interface Kind {
  readonly apiVersion: string
  readonly kind: string
  readonly namespaced: boolean
  /** Of one object, or of the list: `/apis/apps/v1/namespaces/x/deployments/y`. Throws KubernetesError where a name would lead elsewhere. */
  path(namespace?: string, name?: string): string
}

/** What all versions of a kind have in common; the core group has no name. */
export function groupOf(apiVersion: string): string {
  return apiVersion.includes('/') ? apiVersion.replace(/\/.*/, '') : ''
}

export type FindKind = (
  target: { readonly apiVersion: string; readonly kind: string },
  signal?: AbortSignal,
) => Promise<Kind | undefined>

interface Resources {
  readonly resources?: readonly { readonly name: string; readonly kind: string; readonly namespaced: boolean }[]
}

/** Asks the cluster what it calls a kind, once. Undefined where it does not serve it (yet). */
export function createKinds(cluster: Pick<Cluster, 'call'>): FindKind {
  const known = new Map<string, Kind>()
  return async ({ apiVersion, kind }, signal) => {
    const key = `${apiVersion} ${kind}`
    const before = known.get(key)
    if (before !== undefined) return before
    const root = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`
    const found = await cluster.call<Resources>('GET', root, { signal }).catch(error => {
      if (isStatus(error, 404)) return undefined
      throw error
    })
    // A subresource has the kind of another one, and a slash.
    const resource = found?.resources?.find(each => each.kind === kind && !each.name.includes('/'))
    if (resource === undefined) return undefined
    const made = toKind(root, apiVersion, resource)
    known.set(key, made)
    return made
  }
}

function toKind(
  root: string,
  apiVersion: string,
  { name, kind, namespaced }: { readonly name: string; readonly kind: string; readonly namespaced: boolean },
): Kind {
  return {
    apiVersion,
    kind,
    namespaced,
    path(namespace, object) {
      const place = namespaced && namespace !== undefined ? `/namespaces/${toSegment(namespace)}` : ''
      return `${root}${place}/${name}${object === undefined ? '' : `/${toSegment(object)}`}`
    },
  }
}

/** What reads a URL takes dots for a way up, encoded or not. The cluster has nothing that is called so. */
function toSegment(name: string): string {
  if (name === '.' || name === '..') throw new KubernetesError(400, 'BadRequest', `"${name}" is no name`)
  return encodeURIComponent(name)
}
