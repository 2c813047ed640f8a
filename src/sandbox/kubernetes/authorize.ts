import type { Cluster } from '../../kubernetes/cluster.ts'
import { SandboxRefusedError, type SandboxSpec } from '../../sandbox.ts'
import { isDeletion, targetOf } from './target.ts'

/** The right that the Automation Broker asked for: whoever has it in a namespace may have bundles run for that namespace. */
const right = { group: 'automationbroker.io', resource: 'access', verb: 'create' }

interface Review {
  readonly status?: { readonly allowed?: boolean }
}

/**
 * Asks the cluster whether the user may have bundles run for the namespace. Bundles that are for none get no right outside of
 * their sandbox. What is taken away needs no right: the namespace may be on its way out, and the user with it.
 */
export async function authorize(cluster: Cluster, spec: SandboxSpec): Promise<void> {
  const namespace = targetOf(spec)
  if (namespace === undefined || isDeletion(spec)) return
  const user = spec.origin?.user
  if (user === undefined)
    throw new SandboxRefusedError(
      'the platform does not say which user it is for (X-Broker-API-Originating-Identity); have it do so, or set bundles.kubernetes.autoEscalate',
    )
  const { username, uid, groups } = user
  const body = { spec: { user: username, uid, groups, resourceAttributes: { ...right, namespace } } }
  const path = '/apis/authorization.k8s.io/v1/subjectaccessreviews'
  const { status } = await cluster.call<Review>('POST', path, { body })
  if (status?.allowed !== true)
    throw new SandboxRefusedError(
      `the user ${username} may not have bundles run for the namespace ${namespace}; give them the right to create access.automationbroker.io there`,
    )
}
