import { describe, expect, it } from 'vitest'
import type { Kind } from '../../kubernetes/kinds.ts'
import { checkAllowed, type ManifestLimits } from './limits.ts'

const kindOf = (full: string, namespaced = true): Kind => {
  const [, apiVersion = '', kind = ''] = /^(.*)\/([^/]+)$/.exec(full) ?? []
  return { apiVersion, kind, namespaced, path: () => '' }
}
const check =
  (limits: Partial<ManifestLimits>, full: string, namespace?: string, name = 'x', namespaced = true) =>
  () =>
    checkAllowed(
      { namespaces: ['context'], kinds: [], ...limits },
      { kind: kindOf(full, namespaced), namespace, name, ofContext: 'mine' },
    )

describe('what templates may reach', () => {
  it('is nothing, unless it is listed', () => {
    expect(check({}, 'v1/ConfigMap', 'mine')).toThrow('bundles.manifests.kinds')
    expect(check({ kinds: ['v1/ConfigMap'] }, 'v1/ConfigMap', 'mine')).not.toThrow()
    expect(check({ kinds: ['v1/ConfigMap'] }, 'v1/Secret', 'mine')).toThrow('v1/Secret may not be used')
    expect(check({ kinds: ['apps/v1/*'] }, 'apps/v1/Deployment', 'mine')).not.toThrow()
    expect(check({ kinds: ['apps/v1/*'] }, 'v1/Secret', 'mine')).toThrow('may not be used')
    expect(check({ kinds: ['*'] }, 'v1/Secret', 'mine')).not.toThrow()
  })

  it('has no kind outside of namespaces that is not named', () => {
    const role = 'rbac.authorization.k8s.io/v1/ClusterRole'
    expect(check({ kinds: ['*', 'rbac.authorization.k8s.io/v1/*'] }, role, undefined, 'x', false)).toThrow(
      'ClusterRole',
    )
    expect(check({ kinds: [role] }, role, undefined, 'x', false)).not.toThrow()
  })

  it('is in the namespaces that are listed, and in no others', () => {
    const kinds = ['v1/ConfigMap', 'v1/Namespace']
    const into = (namespaces: readonly string[], namespace: string) =>
      check({ kinds, namespaces }, 'v1/ConfigMap', namespace)
    expect(into(['context'], 'mine')).not.toThrow()
    expect(into(['context'], 'other')).toThrow('bundles.manifests.namespaces')
    expect(into(['team-*'], 'team-a')).not.toThrow()
    expect(into(['team-*'], 'my-team-a')).toThrow()
    expect(into(['team'], 'team-a')).toThrow()
    expect(into(['*-shared'], 'a-shared')).not.toThrow()
    expect(check({ kinds, namespaces: ['context'] }, 'v1/Namespace', undefined, 'kube-system', false)).toThrow()
    expect(check({ kinds, namespaces: ['context'] }, 'v1/Namespace', undefined, 'mine', false)).not.toThrow()
  })
})
