import type { OpenCluster } from '../../kubernetes/open-later.ts'
import type { SecretReader } from '../../registry.ts'
import type { ConfigSettings } from '../../settings/config.ts'
import { createClusterSecrets } from './cluster-secrets.ts'
import { createSecretFolder } from './secrets.ts'

/**
 * Where secrets are read that are only named. In a file of its own: the types of a cluster need a package that not everybody has,
 * and those of a broker must not lead to them.
 */
export function openSecrets(
  { secretsFrom, secretsFolder, kubernetes }: ConfigSettings['bundles'],
  open: () => Promise<OpenCluster>,
): SecretReader {
  return secretsFrom === 'kubernetes'
    ? createClusterSecrets(open, kubernetes.namespace)
    : createSecretFolder(secretsFolder)
}
