import { connectCluster } from '../../kubernetes/cluster.ts'
import { ClusterSettingsError } from '../../kubernetes/errors.ts'
import type { Runtime } from '../../sandbox.ts'
import type { RuntimeOptions } from '../types.ts'
import { createKubernetesRuntime } from './kubernetes-runtime.ts'

/** Nobody: a pod does not run as the broker's own user, whoever that is. */
const nobody = { uid: 65_534, gid: 65_534 }

export async function openKubernetesRuntime(options: RuntimeOptions): Promise<Runtime> {
  const { kubernetes, clock, env, user = nobody } = options
  if (kubernetes === undefined)
    throw new ClusterSettingsError('Nothing is said about the cluster: see bundles.kubernetes.')
  return createKubernetesRuntime(await connectCluster(kubernetes, { clock, env }), { ...kubernetes, user })
}
