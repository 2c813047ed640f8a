import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { systemClock } from '../../src/clock.ts'
import { takeAttempt } from '../../src/sandbox/container/attempts.ts'
import { createContainerRuntime } from '../../src/sandbox/container/container-runtime.ts'
import { createContainers } from '../../src/sandbox/container/containers.ts'
import { createEngine } from '../../src/sandbox/container/engine.ts'
import { placesInside, toContainer } from '../../src/sandbox/container/to-container.ts'
import { createFolders, foldersOf } from '../../src/sandbox/folders.ts'
import { layOut } from '../../src/sandbox/inputs.ts'
import type { SandboxSpec } from '../../src/sandbox.ts'
import { type ContainerEngine, sandboxUser } from '../external/container-engine.ts'
import type { TestedEngine } from '../external/engines.ts'
import { clockAhead, quickClock } from './clocks.ts'
import { leftoversIn, survivors } from './process-subject.ts'
import { runSandboxContract } from './run-contract.ts'

/** The contract of sandboxes, and what else there is to say about containers. */
export function testContainers({ engineName, reason, start }: TestedEngine): void {
  let started: ContainerEngine | undefined
  const engine = () => {
    if (started === undefined) throw new Error('there is no engine')
    return started
  }
  if (reason === undefined) {
    beforeAll(async () => {
      started = await start()
    })
    afterAll(() => started?.stop())
  }

  runSandboxContract(
    `container (${engineName})`,
    () => {
      const { socket, image } = engine()
      const folder = mkdtempSync(join(tmpdir(), 'purser-containers-'))
      const open = async (ahead = 0) =>
        createContainerRuntime({ socket, folder, user: sandboxUser, clock: clockAhead(ahead) })
      return {
        open,
        isolates: true,
        survivors,
        leftovers: async () => [...leftoversIn(folder), ...(await containersOf(socket, folder))],
        program: async script => ({ kind: 'image', image: await image(script), pull: 'never' }),
        async destroy() {
          const runtime = await open()
          for (const { name } of await runtime.list()) await runtime.remove(name)
          rmSync(folder, { recursive: true, force: true })
        },
      }
    },
    { reason, isolates: true },
  )

  describe.skipIf(reason !== undefined)('apart from the contract', () => {
    describe('a starter that is gone', () => {
      it('is taken over from, and can start nothing when it comes back', async () => {
        const folder = mkdtempSync(join(tmpdir(), 'purser-containers-'))
        const runtime = createContainerRuntime({
          socket: engine().socket,
          folder,
          user: sandboxUser,
          clock: quickClock(20),
        })
        const image = await engine().image('echo run >> "$BUNDLE_OUTPUT/message"')
        const spec = containerSpec(image)
        try {
          // It has made the folder and the container, and stops before it starts it.
          const layout = layOut(spec.inputs, placesInside)
          await createFolders(folder, spec.name, { layout, job: { labels: {}, createdAt: 1 }, user: sandboxUser })
          const attempt = await takeAttempt(join(folder, spec.name), {
            number: 0,
            output: join(folder, spec.name, 'output'),
          })
          const folders = { ...foldersOf(folder, spec.name), output: attempt?.output ?? '' }
          const calls = createEngine(engine().socket)
          const userNamespace = await createContainers(calls, folder, systemClock).findUserNamespace()
          const body = toContainer(spec, layout, {
            image: plainImage,
            user: sandboxUser,
            owner: folder,
            folders,
            userNamespace,
          })
          const stale = Object(await (await calls.call('POST', '/containers/create?name=stale', { body })).json())

          expect(await runtime.start(spec)).toEqual({ attached: false })
          expect(await runtime.wait(spec.name, new AbortController().signal)).toEqual({ kind: 'exited', code: 0 })
          const late = await calls.call('POST', `/containers/${stale.Id}/start`)
          expect(late.status).toBeGreaterThanOrEqual(400)
          // Docker, Podman, and runc where it has no rights of root: each has words of its own.
          expect(await late.problem()).toMatch(/no such file|does not exist|cannot get final child's PID/)
          expect((await runtime.collect(spec.name, [])).outputs.message).toBe('run')
          ;(await calls.call('DELETE', '/containers/stale?force=1')).stream.resume()
        } finally {
          await runtime.remove(spec.name)
          rmSync(folder, { recursive: true, force: true })
        }
      })
    })

    describe('an image that is not there', () => {
      it('is refused where it may not be pulled', async () => {
        const folder = mkdtempSync(join(tmpdir(), 'purser-containers-'))
        try {
          const runtime = createContainerRuntime({
            socket: engine().socket,
            folder,
            user: sandboxUser,
            clock: systemClock,
          })
          const started = runtime.start(containerSpec('localhost/none:1'))
          await expect(started).rejects.toThrow('its image is not on this machine')
          expect(await runtime.list()).toEqual([])
        } finally {
          rmSync(folder, { recursive: true, force: true })
        }
      })
    })
  })
}

/** Of the runtime with that folder. */
async function containersOf(socket: string, folder: string): Promise<readonly string[]> {
  const listed = await createContainers(createEngine(socket), folder, systemClock).list()
  return listed.map(({ sandbox }) => sandbox)
}

/** One that says nothing of itself. */
export const plainImage = { entrypoint: [], readsJson: false }

export function containerSpec(image: string): SandboxSpec {
  return {
    name: 'operation-1',
    labels: {},
    program: { kind: 'image', image, pull: 'never' },
    inputs: { action: 'provision', input: {}, extraVars: {}, state: {}, helpers: {}, env: {} },
    limits: { time: 36_000_000 },
    network: 'none',
  }
}
