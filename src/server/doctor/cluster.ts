import { type Cluster, connectCluster } from '../../kubernetes/cluster.ts'
import { messageOf } from '../../shape/thrown.ts'
import { type Right, rightsFor } from './cluster-rights.ts'
import { type Check, type Finding, longest } from './finding.ts'

/** The cluster that bundles run in answers, and lets this account do what is needed. The review of a right stores nothing. */
export const checkCluster: Check = async ({ config, env, clock, signal }) => {
  const { kubernetes, secretsFrom } = config.bundles
  const about = 'runtime kubernetes'
  const expected = 'the API server of the cluster answers'
  let cluster: Cluster
  let version: string
  try {
    cluster = await connectCluster(kubernetes, { clock, env, tryFor: longest / 2 })
    version = (await cluster.call<{ readonly gitVersion?: string }>('GET', '/version', { signal })).gitVersion ?? ''
  } catch (error) {
    const remedy = 'Check bundles.kubernetes, KUBECONFIG and the network.'
    return [{ state: 'wrong', about, expected, found: messageOf(error), remedy }]
  }
  const namespace = kubernetes.namespace ?? cluster.namespace
  const refused = await findRefused(cluster, namespace, rightsFor({ kubernetes, secretsFrom }), signal)
  return [{ state: 'ok', about, expected, found: `version ${version}` }, judge(refused, namespace)]
}

/** Some at a time: there are about thirty of them. */
const atOnce = 8

async function findRefused(
  cluster: Cluster,
  home: string,
  rights: readonly Right[],
  signal: AbortSignal,
): Promise<readonly Right[]> {
  const refused: Right[] = []
  for (let from = 0; from < rights.length; from += atOnce) {
    const some = rights.slice(from, from + atOnce)
    const allowed = await Promise.all(some.map(right => isAllowed(cluster, home, right, signal)))
    refused.push(...some.filter((_, index) => allowed[index] !== true))
  }
  return refused
}

async function isAllowed(cluster: Cluster, home: string, right: Right, signal: AbortSignal): Promise<boolean> {
  const [resource, subresource] = right.resource.split('/')
  const resourceAttributes = {
    group: right.group,
    resource,
    subresource,
    verb: right.verb,
    name: right.name,
    namespace: right.home ? home : undefined,
  }
  const body = { apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectAccessReview', spec: { resourceAttributes } }
  const path = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews'
  const { status } = await cluster.call<{ readonly status?: { readonly allowed?: boolean } }>('POST', path, {
    body,
    signal,
  })
  return status?.allowed === true
}

function judge(refused: readonly Right[], home: string): Finding {
  const about = 'rights in the cluster'
  const expected = 'the account may do what running bundles needs'
  if (refused.length === 0) return { state: 'ok', about, expected, found: 'it may' }
  const said = refused.map(({ verb, resource, home: isHome, name }) =>
    [verb, resource, name, isHome ? `in ${home}` : ''].filter(Boolean).join(' '),
  )
  const remedy = 'Give them to its account: deploy/kubernetes and the Helm chart have the roles.'
  return { state: 'wrong', about, expected, found: `it may not ${said.join(', ')}`, remedy }
}
