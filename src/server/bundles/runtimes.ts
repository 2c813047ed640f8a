import { existsSync } from 'node:fs'
import { mkdir, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Clock } from '../../clock.ts'
import type { Runtime } from '../../sandbox.ts'
import type { Config } from '../config.ts'
import { StartError } from '../start-error.ts'
import { readHost } from './host.ts'
import { findSocket } from './socket.ts'

export interface BundleRuntimes {
  /** For bundles in folders. */
  readonly process?: Runtime
  /** For images. */
  readonly container?: Runtime
  /** The place that their sandboxes are in, as the ledger calls it. */
  readonly host: string
}

export interface RuntimeParts {
  readonly clock: Clock
  readonly env: Readonly<Record<string, string | undefined>>
}

export interface RuntimeSettings {
  readonly bundles: Pick<Config['bundles'], 'runtime' | 'folder' | 'socket' | 'user'>
  readonly registries?: Config['registries']
}

/** Nobody: who runs bundles where the broker is root and nobody else is named. */
const nobody = { uid: 65_534, gid: 65_534 }

/** What makes sandboxes on this machine. Throws StartError where bundles could not run as the settings say. */
export async function createRuntimes(
  { bundles, registries = [] }: RuntimeSettings,
  { clock, env }: RuntimeParts,
): Promise<BundleRuntimes> {
  const root = process.getuid?.() === 0
  if (!root && bundles.user !== undefined)
    throw new StartError(
      'bundles.user is set, and the broker is not root.',
      'Only root can run bundles as another user.',
      'Leave bundles.user out: bundles then run as the user that runs the broker.',
    )
  const user = root ? (bundles.user ?? nobody) : undefined
  const { folder, runtime } = bundles
  await mkdir(folder, { recursive: true, mode: 0o711 })
  const socket = bundles.socket ?? findSocket(env)
  // An engine that nobody has and nobody needs is not asked for leftovers again and again.
  const images = bundles.socket !== undefined || registries.some(({ type }) => type !== 'directory')
  const containers = runtime === 'container' || (runtime === 'auto' && (images || existsSync(socket)))
  return {
    host: await readHost(folder),
    // Short: there are sockets below, whose paths must not be long.
    ...(runtime === 'container' ? {} : { process: await openProcesses(join(folder, 'p'), user, clock) }),
    ...(containers ? { container: await openContainers(socket, join(folder, 'c'), user, clock) } : {}),
  }
}

type User = typeof nobody

async function openProcesses(folder: string, user: User | undefined, clock: Clock): Promise<Runtime> {
  if (user !== undefined) await checkWay(dirname(folder), user)
  const { createProcessRuntime } = await import('../../sandbox/process/process-runtime.ts')
  return createProcessRuntime({ folder, clock, ...(user && { user }) })
}

async function openContainers(socket: string, folder: string, user: User | undefined, clock: Clock): Promise<Runtime> {
  const { createContainerRuntime } = await import('../../sandbox/container/container-runtime.ts')
  return createContainerRuntime({ socket, folder, clock, ...(user && { user }) })
}

/** Whoever cannot pass through every folder on the way cannot run anything in the last one. */
async function checkWay(folder: string, { uid, gid }: User): Promise<void> {
  for (let path = folder; path !== dirname(path); path = dirname(path)) {
    const { mode, uid: owner, gid: group } = await stat(path)
    const needed = owner === uid ? 0o100 : group === gid ? 0o010 : 0o001
    if ((mode & needed) === 0)
      throw new StartError(
        `Bundles cannot run in ${folder}.`,
        `They run as user ${uid}, which may not pass through ${path}.`,
        `Set bundles.folder to another place, such as /var/lib/purser, or run "chmod o+x ${path}".`,
      )
  }
}
