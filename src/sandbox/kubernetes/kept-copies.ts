/**
 * Copies of what the ledger keeps, where the Automation Broker had the originals: the ConfigMap `<instance>-state` and Secrets with
 * the names of instances and bindings, in the broker's namespace.
 */
import type { Cluster } from '../../kubernetes/cluster.ts'
import { isStatus } from '../../kubernetes/errors.ts'
import type { KubernetesObject } from '../../kubernetes/objects.ts'
import type { KeptCopy } from '../../sandbox.ts'
import { homeLabel } from './records.ts'

/** On copies only: nothing else is changed or deleted, whatever its name is. */
const copyLabel = 'purser.dev/copy'

export function createKeptCopies(cluster: Cluster, home: string): (kept: KeptCopy) => Promise<void> {
  const core = `/api/v1/namespaces/${home}`
  const isCopy = ({ metadata }: KubernetesObject) => metadata.labels?.[copyLabel] !== undefined

  async function write(plural: string, body: KubernetesObject & { readonly data: object }): Promise<void> {
    try {
      await cluster.call('POST', `${core}/${plural}`, { body })
    } catch (error) {
      if (!isStatus(error, 409)) throw error
      await cluster.update<typeof body>(`${core}/${plural}/${body.metadata.name}`, found =>
        isCopy(found)
          ? { ...found, data: body.data, metadata: { ...found.metadata, labels: body.metadata.labels ?? {} } }
          : undefined,
      )
    }
  }

  async function erase(plural: string, name: string): Promise<void> {
    const path = `${core}/${plural}/${name}`
    const found = await cluster.find<KubernetesObject>(path)
    if (found?.metadata.uid !== undefined && isCopy(found)) await cluster.remove(path, { uid: found.metadata.uid })
  }

  return async ({ id, bundle, action, state = {}, credentials }) => {
    // Other ids cannot be names.
    if (!/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(id)) return
    const labels = { [copyLabel]: 'kept', [homeLabel]: home, bundleAction: action, bundleName: bundle.slice(0, 63) }
    const stateName = `${id}-state`
    if (Object.keys(state).length === 0) await erase('configmaps', stateName)
    else await write('configmaps', { metadata: { name: stateName, labels }, data: state })
    const text = credentials && Buffer.from(JSON.stringify(credentials)).toString('base64')
    if (text === undefined) await erase('secrets', id)
    else await write('secrets', { metadata: { name: id, labels }, data: { credentials: text } })
  }
}
