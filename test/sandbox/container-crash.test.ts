/** A broker is killed around each of its calls to the engine: the bundle runs once, its end is known, nothing is left. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { systemClock } from '../../src/clock.ts'
import { createContainerRuntime } from '../../src/sandbox/container/container-runtime.ts'
import { createContainers } from '../../src/sandbox/container/containers.ts'
import { createEngine } from '../../src/sandbox/container/engine.ts'
import type { Runtime, SandboxSpec, SandboxStatus } from '../../src/sandbox.ts'
import { never } from '../../src/testing/sandbox-contract/subject.ts'
import { type ContainerEngine, sandboxUser } from '../external/container-engine.ts'
import { engines } from '../external/engines.ts'
import { type Bundled, bundle } from './bundled.ts'
import { quickClock } from './clocks.ts'
import { type Fatal, listenDeadly } from './deadly-engine.ts'
import { leftoversIn } from './process-subject.ts'

const source = 'test/sandbox/container-broker.ts'
const name = 'operation-1'
let started: ContainerEngine
let bundled: Bundled
let spec: SandboxSpec
let folder: string
let runtime: Runtime

describe.each(engines)('a broker on $engineName that is killed', ({ engineName, reason, start }) => {
  if (reason !== undefined) return it.skip(`(skipped: ${reason})`, () => undefined)
  beforeAll(async () => {
    started = await start()
    bundled = await bundle(source)
    spec = {
      name,
      labels: {},
      program: {
        kind: 'image',
        image: await started.image('echo run >> "$BUNDLE_OUTPUT/message"; sleep 0.5'),
        pull: 'never',
      },
      inputs: { action: 'provision', input: {}, extraVars: {}, state: {}, helpers: {}, env: {} },
      limits: { time: 36_000_000 },
      network: 'none',
    }
  })
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'purser-containers-'))
    runtime = createContainerRuntime({ socket: started.socket, folder, user: sandboxUser, clock: quickClock(20) })
  })
  afterEach(async () => {
    await runtime.remove(name)
    rmSync(folder, { recursive: true, force: true })
  })
  afterAll(async () => {
    await started?.stop()
    bundled?.remove()
  })

  // Ask for its version, look, look for the image, look again, create, start; then the looks of the wait.
  const all = engineName === 'Podman' || process.env.PURSER_TEST_LONG === '1'
  const points = (all ? [1, 2, 3, 4, 5, 6, 7] : [5, 6]).flatMap(call =>
    (['before', 'after'] as const).map(when => ({ call, when })),
  )
  it.each(points)('$when the engine hears its call $call', async point => {
    expect(await killAt(folder, point)).toBe(point.call)
    await runtime.start(spec)
    expect(await end(runtime)).toEqual({ kind: 'exited', code: 0 })
    expect((await runtime.collect(name, [])).outputs.message).toBe('run')
    await runtime.remove(name)
    await expectNothingLeft()
  })

  it.each(['before', 'after'] as const)('%s the engine hears of the removal', async when => {
    await killAt(folder, { call: 'DELETE', when })
    expect(await runtime.list()).toMatchObject([{ name }])
    if (when === 'after') await expect(runtime.start(spec)).rejects.toMatchObject({ name: 'SandboxRefusedError' })
    else expect(await runtime.start(spec)).toEqual({ attached: true })
    await runtime.remove(name)
    await expectNothingLeft()
  })
})

async function expectNothingLeft(): Promise<void> {
  await expect(runtime.start(spec)).rejects.toMatchObject({ name: 'SandboxRefusedError' })
  expect(await runtime.list()).toEqual([])
  expect(leftoversIn(folder)).toEqual([])
  expect(await createContainers(createEngine(started.socket), folder, systemClock).list()).toEqual([])
}

/** Runs a broker and kills it; answers how many calls it made. */
async function killAt(folder: string, point: Fatal): Promise<number> {
  const place = mkdtempSync(join(tmpdir(), 'purser-deadly-'))
  const socket = join(place, 'socket')
  const [node = '', script = ''] = bundled.command(source)
  const engine = await listenDeadly(socket, started.socket, point, () => broker.kill('SIGKILL'))
  const broker = spawn(node, [script, JSON.stringify(spec), folder, socket], { stdio: ['ignore', 'ignore', 'inherit'] })
  try {
    expect(await once(broker, 'exit')).toEqual([null, 'SIGKILL'])
    return engine.calls()
  } finally {
    engine.close()
    rmSync(place, { recursive: true, force: true })
  }
}

/** Podman looks at processes that may be gone when it looks: then it is asked again, as a broker does. */
async function end(runtime: Runtime): Promise<SandboxStatus> {
  for (;;) {
    const status = await runtime.wait(name, never())
    if (status.kind !== 'unknown') return status
  }
}
