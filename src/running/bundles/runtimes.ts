import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { link, mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { dirname, join } from 'node:path'
import type { Clock } from '../../clock.ts'
import { ClusterSettingsError } from '../../kubernetes/errors.ts'
import type { RegistrySettings } from '../../registry/settings.ts'
import { findRegistryType } from '../../registry/types.ts'
import { unless } from '../../sandbox/owner.ts'
import { runtimeTypes } from '../../sandbox/types.ts'
import { type Runtime, SandboxRefusedError } from '../../sandbox.ts'
import type { ConfigSettings } from '../../settings/config.ts'
import { StartError } from '../start-error.ts'

export interface RuntimeParts {
  readonly clock: Clock
  readonly env: Readonly<Record<string, string | undefined>>
  /** Runtimes of others: what they run, they run in the place of ours. */
  readonly runtimes?: readonly Runtime[]
  /** Folders with files of the broker's that no bundle may see, besides its own. */
  readonly hidden?: readonly string[]
}

export interface RuntimeSettings {
  readonly bundles: Pick<ConfigSettings['bundles'], 'runtime' | 'folder' | 'socket' | 'user' | 'exposeFiles'> &
    Partial<Pick<ConfigSettings['bundles'], 'kubernetes'>>
  readonly registries?: readonly RegistrySettings[]
}

/** Nobody: who runs bundles where the broker is root and nobody else is named. */
export const nobody = { uid: 65_534, gid: 65_534 }

/**
 * The runtimes of a broker, in the order in which they are asked whether they run a program, and the name of this host.
 * Throws StartError where bundles could not run as the settings say.
 */
export async function createRuntimes(
  { bundles, registries = [] }: RuntimeSettings,
  { clock, env, runtimes: given = [], hidden = [] }: RuntimeParts,
): Promise<{ readonly runtimes: readonly Runtime[]; readonly host: string }> {
  const root = process.getuid?.() === 0
  if (!root && bundles.user !== undefined)
    throw new StartError(
      'bundles.user is set, and the broker is not root.',
      'Only root can run bundles as another user.',
      'Leave bundles.user out: bundles then run as the user that runs the broker.',
    )
  const user = root ? (bundles.user ?? nobody) : undefined
  const { folder } = bundles
  await mkdir(folder, { recursive: true, mode: 0o711 })
  const { types, socket } = chooseRuntimes({ bundles, registries }, env, given)
  const runtimes = [...given]
  for (const type of types) {
    if (type.runs === 'folder' && user !== undefined) await checkPassable(folder, user)
    const { exposeFiles, kubernetes } = bundles
    const own = { folder: join(folder, type.folder), hidden: [folder, ...hidden], exposeFiles }
    runtimes.push(await type.open({ ...own, user, clock, socket, kubernetes, env }).catch(rethrow))
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

/** The types of runtimes that the settings ask for, in their order, and where a container engine is looked for. */
export function chooseRuntimes(
  { bundles, registries = [] }: RuntimeSettings,
  env: RuntimeParts['env'],
  given: readonly Runtime[] = [],
) {
  const { runtime } = bundles
  const socket = bundles.socket ?? findSocket(env)
  // An engine that nobody has and nobody needs is not asked for leftovers again and again.
  const images =
    bundles.socket !== undefined ||
    registries.some(({ type }) => findRegistryType(type)?.offers === 'image') ||
    existsSync(socket)
  const types = runtimeTypes.filter(type => {
    const isFree = !given.some(({ runs }) => runs.includes(type.runs))
    return runtime === 'auto' ? type.isDefault && isFree && (type.runs === 'folder' || images) : runtime === type.name
  })
  return { types, socket }
}

function rethrow(error: unknown): never {
  if (error instanceof ClusterSettingsError)
    throw new StartError('Bundles cannot run in a Kubernetes cluster.', error.message, 'See bundles.kubernetes.')
  if (!(error instanceof SandboxRefusedError)) throw error
  throw new StartError(
    'Bundles cannot run as processes here.',
    `It was refused: ${error.message}.`,
    'Run them in containers (bundles.runtime: container), run the broker as root, or set bundles.exposeFiles.',
  )
}

/** A user who cannot pass through every folder above cannot run anything in the last one. */
export async function checkPassable(folder: string, { uid, gid }: typeof nobody): Promise<void> {
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

/**
 * The socket of a container engine, where one is looked for. A DOCKER_HOST that is not a socket of this machine is ignored.
 * An engine may be started after the broker: without any, the first place is tried again and again.
 */
export function findSocket(
  env: Readonly<Record<string, string | undefined>>,
  exists: (path: string) => boolean = existsSync,
): string {
  const candidates = [
    /^unix:\/\/(\/.+)$/.exec(env.DOCKER_HOST ?? '')?.[1],
    '/run/podman/podman.sock',
    env.XDG_RUNTIME_DIR && join(env.XDG_RUNTIME_DIR, 'podman/podman.sock'),
    '/var/run/docker.sock',
  ].flatMap(path => path || [])
  return candidates.find(exists) ?? candidates[0] ?? ''
}

/**
 * What the ledger calls the place that sandboxes are in. It is kept in the folder that they are in: a machine may change
 * its name, and a container does whenever it is made anew.
 */
async function readHost(folder: string): Promise<string> {
  const file = join(folder, 'host')
  const draft = `${file}.${randomUUID()}`
  await writeFile(draft, `${hostname()}/${randomUUID().slice(0, 8)}\n`, { flush: true })
  try {
    // The first process that comes here gives the name; a link cannot replace a file.
    await unless(['EEXIST'], link(draft, file))
  } finally {
    await rm(draft, { force: true })
  }
  return (await readFile(file, 'utf8')).trim()
}

/** The first text that stands in the list more than once. */
export function findRepeated(texts: readonly string[]): string | undefined {
  return texts.find((text, index) => texts.indexOf(text) !== index)
}
