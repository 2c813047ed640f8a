import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { constants } from 'node:fs'
import { access, mkdir, realpath } from 'node:fs/promises'
import { isAbsolute, relative, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import type { Clock } from '../../clock.ts'
import {
  checkName,
  type Runtime,
  RuntimeUnavailableError,
  type SandboxProgram,
  SandboxRefusedError,
  type SandboxSpec,
  type SandboxStatus,
} from '../../sandbox.ts'
import { createFolderList, createFolders, foldersOf, removeFolder, reserveFolder, type User } from '../folders.ts'
import { layOut } from '../inputs.ts'
import { collectOutputs, readProgress } from '../outputs.ts'
import { claimFolder, readOwner, removed, wasRemoved } from '../owner.ts'
import { tailOf } from '../redact.ts'
import { bound, type Containment, checkKept, contain, findContainment, searchPath } from './containment.ts'
import { findStatus, isReachable } from './control.ts'
import { type Job, readLog } from './job.ts'
import { killMarked } from './processes.ts'
import { viewOf } from './view.ts'

export interface ProcessRuntimeOptions {
  /** A folder on a disk of this machine; it outlives restarts of the broker. */
  readonly folder: string
  /** Who runs the bundles. To be given where the broker runs as root, and only there. */
  readonly user?: User
  /** The broker's own folders. Bundles that run as its user must not see them. */
  readonly hidden?: readonly string[]
  /** Runs bundles as the broker's user also where the machine cannot hide its files from them. */
  readonly exposeFiles?: boolean
  readonly clock: Clock
  /** What the machine can do, where that is known; otherwise it is found out. */
  readonly containment?: Containment
  /** The command of the supervisor, where it does not stand beside this file. */
  readonly supervisor?: readonly string[]
}

/** The command that starts a supervisor; the sandbox's folder is added to it. */
const defaultSupervisor: readonly string[] = [
  process.execPath,
  fileURLToPath(new URL('./supervisor.js', import.meta.url)),
]

/** For other sandboxes of the same user, whose processes the kernel counts together. */
const spareProcesses = 2000

/**
 * Runs bundles as processes of this machine, each under a supervisor of its own that outlives the broker. Where Linux
 * allows it, a bundle has its own process namespace, and nothing that it starts can outlive it. It is not isolated
 * otherwise: a bundle sees the machine's files, but for those of the broker and of other sandboxes. Memory and processes are looked at four times a second, and cores are not
 * limited; the container runtime has the kernel keep these limits.
 */
export async function createProcessRuntime(options: ProcessRuntimeOptions): Promise<Runtime> {
  const { user, clock, supervisor = defaultSupervisor, exposeFiles = false } = options
  if (process.getuid?.() === 0 ? user === undefined : user !== undefined)
    throw new SandboxRefusedError(
      user === undefined
        ? 'the broker runs as root, and bundles should not: name a user for them, or run the broker as another one'
        : 'only a broker that runs as root can run bundles as another user: leave the user out',
    )
  const containment = options.containment ?? (await findContainment())
  // Another user's rights hide the broker's files; the broker's own user has to have another view.
  if (user === undefined && !containment.hides && !exposeFiles)
    throw new SandboxRefusedError(
      'bundles would run as the user of the broker, and this machine cannot hide its ledger and other bundles from them; use the container runtime, or set exposeFiles',
    )
  await mkdir(options.folder, { recursive: true, mode: 0o711 })
  const root = await realpath(options.folder)
  const hidden = user === undefined ? [root, ...(options.hidden ?? [])] : []
  const listFolders = createFolderList(root)
  const pathOf = (name: string) => foldersOf(root, name).folder

  async function makeFolders(spec: SandboxSpec): Promise<boolean> {
    checkKept(spec, containment)
    const program = await findProgram(spec.program)
    const layout = layOut(spec.inputs, foldersOf(root, spec.name))
    const { namespaces: contained } = containment
    const { network, limits } = spec
    const { processes } = limits
    const view = containment.hides
      ? viewOf({ hidden, network, folder: pathOf(spec.name), program: program.folder })
      : undefined
    const command = bound([program.file, ...layout.args], processes && processes + spareProcesses)
    const job: Job = {
      labels: spec.labels,
      createdAt: clock.now(),
      command: contained ? contain(command, { network, user, view }) : command,
      cwd: program.folder,
      env: { PATH: searchPath, ...layout.env },
      limits: spec.limits,
      contained,
      user: contained ? undefined : user,
    }
    return createFolders(root, spec.name, { layout, job, user })
  }

  async function status(name: string): Promise<SandboxStatus> {
    const { status, line } = await findStatus(pathOf(name))
    line?.destroy()
    return status
  }

  async function wait(name: string, signal: AbortSignal): Promise<SandboxStatus> {
    for (;;) {
      const { status, line } = await findStatus(pathOf(name))
      if (line === undefined) return status
      try {
        await once(line, 'close', { signal })
      } catch {
        // Either the caller has waited enough, or the line broke: then the next look says why.
        if (signal.aborted) return status
      } finally {
        line.destroy()
      }
    }
  }

  async function cancel(name: string, graceMs: number): Promise<void> {
    const { status, line } = await findStatus(pathOf(name))
    if (status.kind === 'unknown') throw noAnswer(name, status.reason)
    if (line !== undefined)
      await new Promise<void>(done => {
        line.once('close', done)
        line.end(`cancel ${Math.round(graceMs)}\n`)
      })
  }

  return {
    type: 'process',
    runs: ['folder'],
    reach: 'host',
    async prepare(program) {
      await findProgram(program)
    },
    async start(spec) {
      checkName(spec.name)
      const folder = pathOf(spec.name)
      if (!isReachable(`${folder}/s-00000000`))
        throw refused('the path of its sandbox is too long for a socket; use a shorter bundles.folder', folder)
      for (let made = false; ; ) {
        const owner = await readOwner(folder)
        if (owner === removed) throw wasRemoved(spec.name)
        if (owner !== undefined) return { attached: !made }
        // Where it is there already, whoever made it may be gone: the one supervisor that gets it runs it.
        made ||= await makeFolders(spec)
        await launchSupervisor(supervisor, folder)
      }
    },
    status,
    wait,
    cancel,
    progress: (name, secrets) => readProgress(foldersOf(root, name).output, secrets),
    async collect(name, secrets) {
      const { folder, output } = foldersOf(root, name)
      const { kind } = await status(name)
      if (kind !== 'exited' && kind !== 'lost') throw new Error(`the sandbox ${name} has not ended: it is ${kind}`)
      const { text, cut } = await readLog(folder)
      return { outputs: await collectOutputs(output, secrets), log: tailOf(text, cut, secrets) }
    },
    async remove(name) {
      checkName(name)
      do {
        await reserveFolder(root, name)
        claimFolder(pathOf(name), removed)
        await cancel(name, 0)
        const ended = await wait(name, new AbortController().signal)
        if (ended.kind === 'unknown') throw noAnswer(name, ended.reason)
        // One that is lost may have left processes where it had no namespace.
        killMarked(pathOf(name))
      } while (!(await removeFolder(root, name)))
    },
    list: () => listFolders(clock.now()),
  }
}

/** The file that is to be run, by its real path. Throws where there is none that may be run. */
async function findProgram(program: SandboxProgram): Promise<{ readonly folder: string; readonly file: string }> {
  if (program.kind !== 'folder')
    throw new SandboxRefusedError(
      'the process runtime runs bundles in folders, and this is an image; use the container runtime',
    )
  const { entrypoint = 'entrypoint.sh' } = program
  const folder = await realpath(program.folder).catch(() => {
    throw refused("the bundle's folder cannot be found; correct the registry's path", program.folder)
  })
  const file = await realpath(resolve(folder, entrypoint)).catch(() => {
    throw refused(`the bundle has no ${entrypoint}; add it, or name another "entrypoint" in the spec`, folder)
  })
  const inside = relative(folder, file)
  if (isAbsolute(entrypoint) || inside.startsWith('..') || isAbsolute(inside))
    throw refused('its entrypoint is outside of the bundle; move it into the bundle', `${entrypoint} in ${folder}`)
  await access(file, constants.X_OK).catch(() => {
    throw refused(`${inside} is not executable; run chmod +x on it`, file)
  })
  return { folder, file }
}

/** Where it is, is for the log: platforms read the message. */
function refused(message: string, where: string): SandboxRefusedError {
  return new SandboxRefusedError(message, { cause: new Error(`it is at ${where}`) })
}

function noAnswer(name: string, reason: string): RuntimeUnavailableError {
  return new RuntimeUnavailableError(`the sandbox ${name} does not answer (${reason}); try again`)
}

/** Resolves when the sandbox has an owner. The supervisor gets nothing of the broker's: no variables, no open files. */
async function launchSupervisor([command = '', ...args]: readonly string[], folder: string): Promise<void> {
  const child = spawn(command, [...args, folder], {
    cwd: '/',
    env: { PATH: searchPath },
    detached: true,
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  child.unref()
  const said = await Promise.race([text(child.stdout), once(child, 'error').then(([error]) => String(error))])
  if (said !== 'ready\n')
    throw new RuntimeUnavailableError(
      `the supervisor of ${folder} did not start (${said.trim() || 'it said nothing'}); look at the disk and the folder's rights`,
    )
}
