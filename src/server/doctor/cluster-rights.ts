import type { Config } from '../config.ts'

/** A right in the cluster; `home` where the broker's own namespace is enough. */
export interface Right {
  readonly group: string
  /** With what stands below it, as in `pods/log`. */
  readonly resource: string
  readonly verb: string
  readonly name?: string
  readonly home?: true
}

/** What a broker does that runs bundles in a cluster. deploy/helm gives the same: a test compares them. */
export function rightsFor({
  kubernetes,
  secretsFrom,
}: Pick<Config['bundles'], 'kubernetes' | 'secretsFrom'>): readonly Right[] {
  const { sandboxRole, roles, autoEscalate, copies, pullSecrets } = kubernetes
  const [rbac, home] = ['rbac.authorization.k8s.io', true as const]
  const bound = [...new Set([sandboxRole, ...roles.map(({ role }) => role)])]
  return [
    ...of('', 'configmaps', 'get list create update patch delete').map(right => ({ ...right, home })),
    ...(copies ? of('', 'secrets', 'get create update delete').map(right => ({ ...right, home })) : []),
    ...pullSecrets.flatMap(name => of('', 'secrets', 'get').map(right => ({ ...right, name, home }))),
    ...(secretsFrom === 'kubernetes' ? of('', 'secrets', 'get').map(right => ({ ...right, home })) : []),
    ...of('', 'namespaces', 'get list create delete'),
    ...of('', 'pods', 'get list watch create delete patch'),
    ...of('', 'pods/log', 'get'),
    ...of('', 'pods/exec', 'get create'),
    ...of('', 'configmaps', 'get create'),
    ...of('', 'secrets', 'get create'),
    ...of('', 'serviceaccounts', 'create'),
    ...of('networking.k8s.io', 'networkpolicies', 'list create delete'),
    ...of(rbac, 'rolebindings', 'list create delete'),
    ...bound.flatMap(name => of(rbac, 'clusterroles', 'bind').map(right => ({ ...right, name }))),
    ...(autoEscalate ? [] : of('authorization.k8s.io', 'subjectaccessreviews', 'create')),
  ]
}

function of(group: string, resource: string, verbs: string): readonly Right[] {
  return verbs.split(' ').map(verb => ({ group, resource, verb }))
}
