import type { KubernetesObject } from '../../kubernetes/objects.ts'
import type { OpenCluster } from '../../kubernetes/open-later.ts'
import type { SecretReader } from '../../registry.ts'
import { messageOf } from '../../shape/thrown.ts'

interface Secret extends KubernetesObject {
  readonly data?: Readonly<Record<string, string>>
}

/** Secrets of the broker's namespace, from the API. Read anew each time; errors name the Secret and nothing in it. */
export function createClusterSecrets(open: () => Promise<OpenCluster>, namespace?: string): SecretReader {
  return {
    async read(name, signal) {
      if (!/^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/.test(name)) return undefined
      try {
        const { cluster } = await open()
        const path = `/api/v1/namespaces/${namespace ?? cluster.namespace}/secrets/${name}`
        const found = await cluster.find<Secret>(path, { signal })
        return found && decoded(found)
      } catch (error) {
        throw new Error(`the Secret "${name}" cannot be read from the cluster: ${messageOf(error)}`, { cause: error })
      }
    },
  }
}

function decoded({ data = {} }: Secret): Readonly<Record<string, string>> {
  const entries = Object.entries(data).map(
    ([key, value]) => [key, Buffer.from(value, 'base64').toString('utf8')] as const,
  )
  // A line end comes from an editor, and is not part of a password.
  return Object.fromEntries(entries.map(([key, value]) => [key, value.replace(/\r?\n$/, '')]))
}
