import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { systemClock } from '../../src/clock.ts'
import { createContainerRuntime } from '../../src/sandbox/container/container-runtime.ts'
import { createContainers, nameOf } from '../../src/sandbox/container/containers.ts'
import { createEngine } from '../../src/sandbox/container/engine.ts'
import { placesInside, toContainer } from '../../src/sandbox/container/to-container.ts'
import { deleteFolder } from '../../src/sandbox/delete-folder.ts'
import { createFolders, foldersOf } from '../../src/sandbox/folders.ts'
import { layOut } from '../../src/sandbox/inputs.ts'
import type { SandboxSpec } from '../../src/sandbox.ts'
import { never, until } from '../../src/testing/sandbox-contract/subject.ts'
import { type ContainerEngine, sandboxUser } from '../external/container-engine.ts'
import { engines } from '../external/engines.ts'
import { clockAhead } from './clocks.ts'
import { plainImage } from './container-cases.ts'
import { leftoversIn } from './process-subject.ts'

const name = 'operation-1'
let started: ContainerEngine
let folder: string

describe.each(engines)('containers of $engineName', ({ reason, start }) => {
  if (reason !== undefined) return it.skip(`(skipped: ${reason})`, () => undefined)
  beforeAll(async () => {
    started = await start()
  })
  afterAll(() => started?.stop())
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'purser-containers-'))
  })
  afterEach(async () => {
    await open().remove(name)
    expect(leftoversIn(folder)).toEqual([])
    expect(await containers().list()).toEqual([])
    rmSync(folder, { recursive: true, force: true })
  })

  it('are kept to their time by whoever lists them, where nobody waits', async () => {
    await open().start(
      await specOf(`trap 'exit 0' TERM; echo ready > "$BUNDLE_OUTPUT/progress"; while :; do sleep 0.1; done`),
    )
    await until(() => open().progress(name, []))
    expect(await open().list()).toMatchObject([{ name }])
    expect(await open().status(name)).toEqual({ kind: 'running' })
    expect(await open(700_000).list()).toMatchObject([{ name }])
    expect(await open().status(name)).toEqual({ kind: 'exited', code: 0, stopped: 'time' })
  })

  it('that a starter made too late, and did not start, are taken away', async () => {
    const spec = await specOf('exit 0')
    await open().remove(name)
    const engine = createEngine(started.socket)
    const userNamespace = await createContainers(engine, folder, systemClock).findUserNamespace()
    // Somewhere else: Docker makes no container of folders that are gone.
    const elsewhere = mkdtempSync(join(tmpdir(), 'purser-containers-'))
    const layout = layOut(spec.inputs, placesInside)
    await createFolders(elsewhere, name, { layout, job: { labels: {}, createdAt: 1 }, user: sandboxUser })
    const folders = foldersOf(elsewhere, name)
    const body = toContainer(spec, layout, {
      image: plainImage,
      user: sandboxUser,
      owner: folder,
      folders,
      userNamespace,
    })
    const made = await engine.call('POST', `/containers/create?name=${nameOf(name)}`, { body })
    expect(made.status).toBe(201)
    made.stream.resume()
    expect(await open().status(name)).toEqual({ kind: 'absent' })
    expect(await open().list()).toEqual([])
    expect(await containers().list()).toEqual([])
    await deleteFolder(elsewhere)
  })

  it('whose entry point cannot be run are refused, and leave no container', async () => {
    const spec = await specOf('exit 0')
    const started = open().start({ ...spec, program: { ...spec.program, entrypoint: '/nowhere' } })
    await expect(started).rejects.toMatchObject({
      name: 'SandboxRefusedError',
      message: 'the entry point of its image cannot be run; correct the image',
      cause: expect.objectContaining({ message: expect.stringContaining('nowhere') }),
    })
    expect(await containers().list()).toEqual([])
  })

  it('may leave their last words where Kubernetes looks for them', async () => {
    await open().start(await specOf('echo "no room" > /dev/termination-log; exit 1'))
    expect(await open().wait(name, never())).toEqual({ kind: 'exited', code: 1 })
    expect((await open().collect(name, [])).outputs.message).toBe('no room')
  })
})

function open(ahead = 0) {
  return createContainerRuntime({ socket: started.socket, folder, user: sandboxUser, clock: clockAhead(ahead) })
}

function containers() {
  return createContainers(createEngine(started.socket), folder, systemClock)
}

async function specOf(script: string): Promise<SandboxSpec> {
  return {
    name,
    labels: {},
    program: { kind: 'image', image: await started.image(script), pull: 'never' },
    inputs: { action: 'provision', input: {}, extraVars: {}, state: {}, helpers: {}, env: {} },
    limits: { time: 600_000 },
    network: 'none',
  }
}
