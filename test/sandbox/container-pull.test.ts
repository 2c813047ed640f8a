/** Images from a real registry, by tag and by digest, with and without credentials. */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { systemClock } from '../../src/clock.ts'
import { createContainerRuntime } from '../../src/sandbox/container/container-runtime.ts'
import {
  type ImageProgram,
  type Runtime,
  type SandboxProgram,
  SandboxRefusedError,
  type SandboxSpec,
} from '../../src/sandbox.ts'
import { never } from '../../src/testing/sandbox-contract/subject.ts'
import { type ContainerEngine, keptNamesOf, pruneImages, sandboxUser } from '../external/container-engine.ts'
import { startDocker, whyNoDocker } from '../external/docker.ts'
import { type Podman, startPodman, whyNoPodman } from '../external/podman.ts'
import { type RegistryServer, startRegistry, whyNoRegistry } from '../registry/docker-registry.ts'

// Podman makes the images, whoever pulls them.
const missing = whyNoPodman() ?? whyNoRegistry()
const name = 'operation-1'
// reader, with the password "sesame street".
const htpasswd = 'reader:$2y$05$abcdefghijklmnopqrstuuB9VsQEQCoA0QDedZYht.T5I6.8xbFAy\n'
const credentials = { username: 'reader', password: 'sesame street' }
let open: RegistryServer
let closed: RegistryServer
let podman: Podman
let engine: ContainerEngine
let folder: string
let runtime: Runtime
let digest: string

const pullers = [
  { engineName: 'Podman', reason: missing, start: async () => podman },
  { engineName: 'Docker', reason: missing ?? whyNoDocker(), start: () => startDocker({ network: 'host' }) },
]

describe.each(pullers)('an image that $engineName pulls', ({ reason, start }) => {
  if (reason !== undefined) return it.skip(`(skipped: ${reason})`, () => undefined)
  beforeAll(async () => {
    open = await startRegistry()
    closed = await startRegistry({ htpasswd })
    podman = await startPodman({ insecure: [open, closed].map(({ port }) => `127.0.0.1:${port}`) })
    engine = await start()
    const image = await podman.image('echo run > "$BUNDLE_OUTPUT/message"')
    digest = await podman.push(image, `127.0.0.1:${open.port}/team/bundle:1`)
    await podman.push(image, `127.0.0.1:${closed.port}/team/bundle:1`, 'reader:sesame street')
    // Other names for what the engine still has would spare it the registry.
    await podman.forget(image)
  })
  afterAll(async () => {
    await engine?.stop()
    if (engine !== podman) await podman?.stop()
    await open?.stop()
    await closed?.stop()
  })
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'purser-containers-'))
    runtime = createContainerRuntime({
      socket: engine.socket,
      folder,
      user: sandboxUser,
      clock: systemClock,
    })
  })
  afterEach(async () => {
    await runtime.remove(name)
    rmSync(folder, { recursive: true, force: true })
  })

  it('is pulled by its tag, before the start or by it', async () => {
    const program = programOf(open, ':1')
    await runtime.prepare(program, never())
    await expectRun({ ...program, pull: 'never' })
    await engine.forget(program.image)
  })

  it('is pulled by its digest, and then not again', async () => {
    const program = programOf(open, `@${digest}`)
    await expectRun(program)
    await runtime.prepare({ ...program, pull: 'never' }, never())
    await engine.forget(program.image)
  })

  it.each([':1', '@'])('needs its credentials (%s)', async tag => {
    const program = programOf(closed, tag === '@' ? `@${digest}` : tag)
    await expect(runtime.prepare(program, never())).rejects.toMatchObject({
      name: 'SandboxRefusedError',
      message: expect.stringContaining("correct the registry's credentials"),
    })
    const wrong = { ...program, credentials: { username: 'reader', password: 'not this one' } }
    const refused = await runtime.start(specOf(wrong)).catch(error => error)

    expect(refused.message).toContain('may not be pulled')
    expect(inspect(refused)).not.toContain('not this one')
    await expectRun({ ...program, credentials })
    await engine.forget(program.image)
  })

  it('that is not in its registry is refused', async () => {
    const started = runtime.start(specOf(programOf(open, ':none')))
    await expect(started).rejects.toMatchObject({
      name: 'SandboxRefusedError',
      message: 'its image is not in its registry; correct the name of the image',
      cause: expect.objectContaining({ message: expect.stringMatching(/^pulling .*team\/bundle:none: ./) }),
    })
    expect(await runtime.list()).toEqual([])
  })

  it('is tried again where its registry is not there', async () => {
    const prepared = runtime.prepare({ kind: 'image', image: 'localhost:1/team/bundle:1', pull: 'always' }, never())
    await expect(prepared).rejects.toMatchObject({ name: 'RuntimeUnavailableError' })
  })

  it('is kept, by its digest and with credentials, whatever is cleaned up, until nobody needs it', async () => {
    const kept = { ...programOf(closed, `@${digest}`), credentials }
    const lost = programOf(open, `@sha256:${'0'.repeat(64)}`)
    const keep = (programs: readonly ImageProgram[], owner = 'me') => runtime.keep?.(owner, programs, never())
    expect(await keep([lost, kept])).toEqual([{ image: lost.image, error: expect.any(SandboxRefusedError) }])
    expect(await keptNamesOf(engine)).toHaveLength(1)
    await pruneImages(engine)
    await expectRun({ ...kept, pull: 'never' })
    // Another owner's is not touched.
    expect(await keep([kept], 'another')).toEqual([])
    expect(await keptNamesOf(engine)).toHaveLength(2)
    expect(await keep([])).toEqual([])
    expect(await keptNamesOf(engine)).toHaveLength(1)
    expect(await keep([], 'another')).toEqual([])
    expect(await keptNamesOf(engine)).toEqual([])
    await runtime.remove(name)
    await engine.forget(kept.image)
    await expect(runtime.prepare({ ...kept, pull: 'never' }, never())).rejects.toThrow('is not on this machine')
  })

  it('is given up when nobody wants it any more', async () => {
    const gone = AbortSignal.abort(new Error('stopped'))
    await expect(runtime.prepare(programOf(open, ':1'), gone)).rejects.toThrow('stopped')
    await expect(runtime.prepare({ ...programOf(open, ':1'), pull: 'never' }, never())).rejects.toThrow(
      'is not on this machine',
    )
  })
})

function programOf({ port }: RegistryServer, version: string) {
  return { kind: 'image', image: `127.0.0.1:${port}/team/bundle${version}`, pull: 'if-missing' } as const
}

function specOf(program: SandboxProgram): SandboxSpec {
  return {
    name,
    labels: {},
    program,
    inputs: { action: 'provision', input: {}, extraVars: {}, state: {}, helpers: {}, env: {} },
    limits: { time: 600_000 },
    network: 'none',
  }
}

async function expectRun(program: SandboxProgram): Promise<void> {
  await runtime.start(specOf(program))
  expect(await runtime.wait(name, never())).toEqual({ kind: 'exited', code: 0 })
  expect((await runtime.collect(name, [])).outputs.message).toBe('run')
}
