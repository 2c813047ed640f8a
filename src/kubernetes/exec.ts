import { Writable } from 'node:stream'
import { messageOf } from '../shape/thrown.ts'
import type { Cluster } from './cluster.ts'
import { loadLibrary } from './credentials.ts'
import { ClusterUnavailableError } from './errors.ts'

export interface ExecTarget {
  readonly namespace: string
  readonly pod: string
  readonly container: string
}

/** How long a command may take. */
const patience = 15_000

/** Runs a command in a container that runs; what it prints, up to `most` bytes. Throws where it fails, or cannot be run. */
export async function execIn(
  cluster: Cluster,
  { namespace, pod, container }: ExecTarget,
  command: readonly string[],
  most: number,
): Promise<string> {
  const { Exec } = await loadLibrary()
  const parts: Buffer[] = []
  let size = 0
  const stdout = new Writable({
    write(chunk: Buffer, _encoding, done) {
      size += chunk.length
      if (size <= most) parts.push(chunk)
      done()
    },
  })
  const what = `running a command in the container ${container} of the pod ${pod}`
  let ended: (status: string) => void = () => undefined
  const status = new Promise<string>(resolve => {
    ended = resolve
  })
  const cancel = cluster.clock.after(patience, () => ended('it took too long'))
  try {
    const socket = await new Exec(cluster.config).exec(
      namespace,
      pod,
      container,
      [...command],
      stdout,
      null,
      null,
      false,
      ({ status, message }) => ended(status === 'Success' ? '' : (message ?? 'it failed')),
    )
    socket.addEventListener('close', () => ended('the connection was closed'))
    const problem = await status
    socket.close()
    if (problem !== '' || size > most) throw new ClusterUnavailableError(`${what}: ${problem || 'it printed too much'}`)
    return Buffer.concat(parts).toString()
  } catch (error) {
    if (error instanceof ClusterUnavailableError) throw error
    throw new ClusterUnavailableError(`${what}: ${messageOf(error)}`, { cause: error })
  } finally {
    cancel()
  }
}
