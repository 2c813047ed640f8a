import type { Cluster } from '../../kubernetes/cluster.ts'
import { isStatus } from '../../kubernetes/errors.ts'
import { execIn } from '../../kubernetes/exec.ts'
import { maxJson } from '../outputs.ts'
import { bundleContainer } from './pod.ts'
import type { SandboxRecord } from './records.ts'

const file = '/var/tmp/bind-creds'
const none = 'none'

/** Nothing while there are none; `none` where the image knows nothing of it. The command ends with 2 for "not yet". */
const askScript = `if [ -f ${file} ]; then cat ${file}
elif command -v broker-bind-creds > /dev/null; then broker-bind-creds || [ $? = 2 ]
else echo ${none}
fi`
/** The bundle goes on when the file is gone. */
const releaseScript = `broker-bind-creds > /dev/null 2>&1 || rm -f ${file}`

/**
 * A bundle of runtime 1 writes its credentials to a file, and waits for up to five minutes until they are fetched. They are kept
 * as a bundle of runtime 2 would do it, in the Secret that has the pod's name, before the bundle is let go: whoever is killed in
 * between has lost nothing. True where there is nothing more to fetch.
 */
export async function fetchKeptCredentials(cluster: Cluster, { namespace, name }: SandboxRecord): Promise<boolean> {
  const inBundle = (script: string) =>
    execIn(cluster, { namespace, pod: name, container: bundleContainer }, ['sh', '-c', script], 2 * maxJson)
  const said = (await inBundle(askScript)).trim()
  if (said === '' || said === none) return said === none
  const fields = said.startsWith('{') ? Buffer.from(said).toString('base64') : said.replaceAll(/\s/g, '')
  const body = { metadata: { name }, data: { fields } }
  await cluster.call('POST', `/api/v1/namespaces/${namespace}/secrets`, { body }).catch(error => {
    if (!isStatus(error, 409)) throw error
  })
  await inBundle(releaseScript)
  return true
}
