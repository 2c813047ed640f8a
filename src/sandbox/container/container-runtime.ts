import { writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { type Clock, sleep } from '../../clock.ts'
import { checkName, type Runtime, RuntimeUnavailableError, type SandboxStatus, type Stop } from '../../sandbox.ts'
import { createFolderList, removeFolder, reserveFolder, type User } from '../folders.ts'
import { collectOutputs, readProgress } from '../outputs.ts'
import { readOwn, unless } from '../owner.ts'
import { tailOf } from '../redact.ts'
import { currentAttempt, endAttempts } from './attempts.ts'
import { type Container, createContainers, limitsOf, nameOf, toStatus } from './containers.ts'
import { createEngine } from './engine.ts'
import { asImage, ensureImage } from './image.ts'
import { keepImages } from './keep-images.ts'
import { outputOf, readContainerLog } from './log-stream.ts'
import { start } from './start.ts'

export interface ContainerRuntimeOptions {
  /** The engine's socket, Docker's or Podman's. */
  readonly socket: string
  /** Inputs and outputs; the engine must see it under the same path. */
  readonly folder: string
  /** Who runs in the containers, where the broker is root; otherwise it is the broker's own user. */
  readonly user?: User
  readonly clock: Clock
}

const graceAfterTime = 5_000
const lookEvery = 150

/**
 * Runs bundles as containers. The engine keeps memory, processes and cores, and what it keeps of a log is bounded. Time is
 * kept by whoever waits or lists, output by whoever waits: while no broker runs, a container may go on beyond them.
 */
export function createContainerRuntime(options: ContainerRuntimeOptions): Runtime {
  const { clock } = options
  const root = resolve(options.folder)
  const engine = createEngine(options.socket)
  const containers = createContainers(engine, root, clock)
  const listFolders = createFolderList(root)
  const user = options.user ?? { uid: process.getuid?.() ?? 65534, gid: process.getgid?.() ?? 65534 }
  const noteOf = (name: string) => join(root, name, 'stopped')

  async function statusOf(name: string, container: Container | undefined): Promise<SandboxStatus> {
    const status: SandboxStatus = container === undefined ? { kind: 'absent' } : toStatus(container)
    if (status.kind !== 'exited' && status.kind !== 'lost') return status
    const note = container?.outOfMemory ? 'memory' : await readOwn(noteOf(name))
    const stopped = stops.find(stop => stop === note)
    if (stopped === undefined) return status
    // The engine may forget how it ended; who ended it is known.
    return { kind: 'exited', code: status.kind === 'exited' ? status.code : 137, stopped }
  }

  async function stop(name: string, why: Stop, graceMs: number): Promise<void> {
    const container = await containers.find(name)
    if (container?.state !== 'running') return
    // Written before the stop, so that whoever sees the end can read the reason. The first reason is kept.
    await unless(['EEXIST', 'ENOENT'], writeFile(noteOf(name), why, { flag: 'wx', flush: true }))
    await containers.stop(container, graceMs)
  }

  async function stopOverdue(name: string, container: Container): Promise<void> {
    if (clock.now() - (container.startedAt ?? clock.now()) > limitsOf(container).time)
      await stop(name, 'time', graceAfterTime)
  }

  async function wait(name: string, signal: AbortSignal): Promise<SandboxStatus> {
    const ended = new AbortController()
    let counting: Promise<void> | undefined
    try {
      for (;;) {
        const container = await containers.find(name)
        const status = await statusOf(name, container)
        if (container === undefined || status.kind !== 'running' || signal.aborted) return status
        await stopOverdue(name, container)
        const { output } = limitsOf(container)
        if (output !== undefined)
          counting ??= countOutput(container.id, output, ended.signal, () => stop(name, 'output', 0))
        await sleep(clock, lookEvery, signal)
      }
    } catch (error) {
      return toUnknown(error)
    } finally {
      ended.abort()
      await counting
    }
  }

  async function countOutput(id: string, max: number, signal: AbortSignal, over: () => Promise<void>): Promise<void> {
    let printed = 0
    try {
      for await (const part of outputOf(engine, id, signal)) {
        printed += part.length
        if (printed > max) return await over()
      }
    } catch {
      // Given up with the wait, or broken off; the next wait counts anew.
    }
  }

  return {
    type: 'container',
    runs: ['image'],
    reach: 'host',
    async prepare(program, signal) {
      await ensureImage(engine, asImage(program), signal)
    },
    async start(spec) {
      checkName(spec.name)
      return { attached: !(await start({ engine, containers, root, user, clock }, spec)) }
    },
    async status(name) {
      try {
        return await statusOf(name, await containers.find(name))
      } catch (error) {
        return toUnknown(error)
      }
    },
    wait,
    cancel: (name, graceMs) => stop(name, 'cancelled', graceMs),
    async progress(name, secrets) {
      const attempt = await currentAttempt(join(root, name))
      return typeof attempt === 'object' ? readProgress(attempt.output, secrets) : undefined
    },
    async collect(name, secrets) {
      const container = await containers.find(name)
      const { kind } = await statusOf(name, container)
      const attempt = await currentAttempt(join(root, name))
      if (container === undefined || typeof attempt !== 'object' || (kind !== 'exited' && kind !== 'lost'))
        throw new Error(`the sandbox ${name} has not ended: it is ${kind}`)
      const { text, cut } = await readContainerLog(engine, container.id)
      return { outputs: await collectOutputs(attempt.output, secrets), log: tailOf(text, cut, secrets) }
    },
    async remove(name) {
      checkName(name)
      do {
        await reserveFolder(root, name)
        await endAttempts(join(root, name))
        await containers.discard(nameOf(name), true)
      } while (!(await removeFolder(root, name)))
    },
    async list() {
      // In this order: whatever has a container has had a folder before.
      const listed = await containers.list()
      const found = await listFolders(clock.now())
      const known = new Set(found.map(({ name }) => name))
      // What no broker waits for is kept to its time, and what a starter made too late, or left behind, is taken away.
      await Promise.all(
        listed.map(async ({ id, sandbox, running }) => {
          if (!known.has(sandbox)) return containers.discard(id, true)
          const container = running ? await containers.find(sandbox) : undefined
          if (container !== undefined) await stopOverdue(sandbox, container)
        }),
      )
      return found
    },
    keep: (owner, programs, signal) => keepImages(engine, { owner, programs, signal }),
  }
}

/** The status of a sandbox that the engine does not tell anything about. */
function toUnknown(error: unknown): SandboxStatus {
  if (error instanceof RuntimeUnavailableError) return { kind: 'unknown', reason: error.message }
  throw error
}

const stops: readonly Stop[] = ['time', 'memory', 'output', 'processes', 'cancelled']
