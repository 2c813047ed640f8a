import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { KubeConfig } from '@kubernetes/client-node'
import { systemClock } from '../../src/clock.ts'
import { type Cluster, connectCluster } from '../../src/kubernetes/cluster.ts'

/** The same cluster for a service account, which must be there. */
export async function connectAs(cluster: Cluster, namespace: string, account: string): Promise<Cluster> {
  const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${account}/token`
  const made = await cluster.call<{ status: { token: string } }>('POST', path, { body: {} })
  const config = new KubeConfig()
  const current = cluster.config.getCurrentCluster()
  if (current === null) throw new Error('no cluster')
  config.loadFromClusterAndUser(current, { name: account, token: made.status.token })
  const folder = mkdtempSync(join(tmpdir(), 'purser-account-'))
  writeFileSync(join(folder, 'kubeconfig'), config.exportConfig())
  const connected = await connectCluster({ kubeconfig: join(folder, 'kubeconfig') }, { clock: systemClock, env: {} })
  rmSync(folder, { recursive: true })
  return connected
}
