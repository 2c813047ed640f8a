import { existsSync } from 'node:fs'
import { mkdir, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Clock } from '../../clock.ts'
import type { RegistrySettings } from '../../registry/settings.ts'
import { findRegistryType } from '../../registry/types.ts'
import { runtimeTypes } from '../../sandbox/types.ts'
import type { Runtime } from '../../sandbox.ts'
import type { ConfigSettings } from '../../settings/config.ts'
import { StartError } from '../start-error.ts'
import { findRepeated } from './find-repeated.ts'
import { readHost } from './host.ts'
import { findSocket } from './socket.ts'

export interface RuntimeParts {
  readonly clock: Clock
  readonly env: Readonly<Record<string, string | undefined>>
  /** Runtimes of others: what they run, they run in the place of ours. */
  readonly runtimes?: readonly Runtime[]
}

export interface RuntimeSettings {
  readonly bundles: Pick<ConfigSettings['bundles'], 'runtime' | 'folder' | 'socket' | 'user'>
  readonly registries?: readonly RegistrySettings[]
}

/** Nobody: who runs bundles where the broker is root and nobody else is named. */
const nobody = { uid: 65_534, gid: 65_534 }

/**
 * The runtimes of a broker, in the order in which they are asked whether they run a program, and the name of this host.
 * Throws StartError where bundles could not run as the settings say.
 */
export async function createRuntimes(
  { bundles, registries = [] }: RuntimeSettings,
  { clock, env, runtimes: given = [] }: RuntimeParts,
): Promise<{ readonly runtimes: readonly Runtime[]; readonly host: string }> {
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
  const images =
    bundles.socket !== undefined ||
    registries.some(({ type }) => findRegistryType(type)?.offers === 'image') ||
    existsSync(socket)
  const runtimes = [...given]
  for (const type of runtimeTypes) {
    const isFree = !given.some(({ runs }) => runs.includes(type.runs))
    const isWanted = runtime === 'auto' ? isFree && (type.runs === 'folder' || images) : runtime === type.name
    if (!isWanted) continue
    if (type.runs === 'folder' && user !== undefined) await checkPassable(folder, user)
    runtimes.push(await type.open({ folder: join(folder, type.folder), user, clock, socket }))
  }
  const twice = findRepeated(runtimes.map(({ type }) => type))
  if (twice !== undefined)
    throw new StartError(
      `There are two runtimes of the type "${twice}".`,
      'The ledger keeps the type of the runtime that a sandbox is in, so each type may be there once.',
      'Give your runtime another type.',
    )
  return { runtimes, host: await readHost(folder) }
}

/** A user who cannot pass through every folder above cannot run anything in the last one. */
async function checkPassable(folder: string, { uid, gid }: typeof nobody): Promise<void> {
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
