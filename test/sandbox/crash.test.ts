/** Brokers and supervisors that are killed: a bundle runs once, its end is known, and nothing is left. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { claimFolder, removed } from '../../src/sandbox/owner.ts'
import { findContainment } from '../../src/sandbox/process/containment.ts'
import { readLog } from '../../src/sandbox/process/job.ts'
import type { SandboxSpec } from '../../src/sandbox.ts'
import { never, until } from '../../src/testing/sandbox-contract/subject.ts'
import { whyNotRuntime } from '../external/wanted-runtime.ts'
import { type Bundled, bundle } from './bundled.ts'
import { createProcessSubject, type ProcessSubject } from './process-subject.ts'

const unwanted = whyNotRuntime('process', () => undefined)
const containment = await findContainment()
const sources = { supervisor: 'src/sandbox/process/supervisor.ts', broker: 'test/sandbox/broker.ts' }
const name = 'operation-1'
let bundled: Bundled
let subject: ProcessSubject

beforeAll(async () => {
  bundled = await bundle(sources.supervisor, sources.broker)
})
afterAll(() => bundled.remove())
beforeEach(() => {
  subject = createProcessSubject(bundled.command(sources.supervisor), containment)
})
afterEach(() => subject.destroy())

async function specOf(script: string): Promise<SandboxSpec> {
  return {
    name,
    labels: {},
    program: await subject.program(script),
    inputs: { action: 'provision', input: {}, extraVars: {}, state: {}, helpers: {}, env: {} },
    limits: { time: 600_000 },
    network: 'allowed',
  }
}

function startBroker(spec: SandboxSpec, supervisor: readonly string[]): ChildProcess {
  const [node = '', script = ''] = bundled.command(sources.broker)
  const args = [script, JSON.stringify(spec), subject.folder, JSON.stringify(supervisor)]
  return spawn(node, args, { stdio: ['ignore', 'pipe', 'inherit'] })
}

/** The end of the story, told to the broker that comes after. */
async function expectOneRun(spec: SandboxSpec): Promise<void> {
  const runtime = await subject.open()
  await runtime.start(spec)
  expect(await runtime.wait(name, never())).toEqual({ kind: 'exited', code: 0 })
  expect((await runtime.collect(name, [])).outputs.message).toBe('run')
  await runtime.remove(name)
  expect(await subject.leftovers()).toEqual([])
}

const runOnce = 'echo run >> "$BUNDLE_OUTPUT/message"; sleep 0.3'

describe.skipIf(unwanted !== undefined)('a broker that is killed', () => {
  it('before the supervisor was started', async () => {
    const spec = await specOf(runOnce)
    // In the place of a supervisor: something that kills the broker and does nothing.
    const broker = startBroker(spec, ['/bin/sh', '-c', 'kill -9 $PPID'])
    expect(await once(broker, 'exit')).toEqual([null, 'SIGKILL'])
    expect(await (await subject.open()).status(name)).toEqual({ kind: 'absent' })
    await expectOneRun(spec)
  })

  it('while the supervisor is being started', async () => {
    const spec = await specOf(runOnce)
    const killer = ['/bin/sh', '-c', 'kill -9 $PPID; exec "$@"', 'killer', ...bundled.command(sources.supervisor)]
    const broker = startBroker(spec, killer)
    expect(await once(broker, 'exit')).toEqual([null, 'SIGKILL'])
    await expectOneRun(spec)
  })

  it('while the bundle runs', async () => {
    const spec = await specOf(runOnce)
    const broker = startBroker(spec, bundled.command(sources.supervisor))
    if (broker.stdout !== null) await once(broker.stdout, 'data')
    broker.kill('SIGKILL')
    await once(broker, 'exit')
    await expectOneRun(spec)
  })

  it('in the middle of a removal', async () => {
    const spec = await specOf(runOnce)
    await once(startBroker(spec, ['/bin/sh', '-c', 'kill -9 $PPID']), 'exit')
    expect(claimFolder(join(subject.folder, name), removed)).toBe(true)
    const runtime = await subject.open()
    expect(await runtime.status(name)).toEqual({ kind: 'absent' })
    await expect(runtime.start(spec)).rejects.toMatchObject({ name: 'SandboxRefusedError' })
    expect(await runtime.list()).toEqual([])
    expect(await subject.leftovers()).toEqual([])
  })
})

describe.skipIf(unwanted !== undefined)('a supervisor that is killed', () => {
  it('takes its bundle along, and the sandbox is lost, not done', async () => {
    const mark = `86400.${process.pid}`
    const spec = await specOf(`setsid sleep ${mark} & echo printed; sleep ${mark}`)
    const runtime = await subject.open()
    await runtime.start(spec)
    // Killed any earlier, it takes what it has not written yet along.
    await until(async () => (await readLog(join(subject.folder, name))).text === 'printed\n')
    const waited = runtime.wait(name, never())
    process.kill(supervisorOf(subject.folder), 'SIGKILL')
    expect(await waited).toMatchObject({ kind: 'lost' })
    expect(await runtime.start(spec)).toEqual({ attached: true })
    expect(await runtime.status(name)).toMatchObject({ kind: 'lost' })
    expect((await runtime.collect(name, [])).log).toBe('printed\n')
    // The kernel sees to it; elsewhere the removal does.
    if (containment.namespaces) await until(async () => subject.survivors(mark) === 0)
    await runtime.remove(name)
    await until(async () => subject.survivors(mark) === 0)
    expect(await subject.leftovers()).toEqual([])
  })
})

/** By its arguments: the sandbox's folder is the last of them. */
function supervisorOf(folder: string): number {
  const wanted = `${join(folder, name)}\0`
  const pid = readdirSync('/proc').find(entry => {
    try {
      return /^\d+$/.test(entry) && readFileSync(`/proc/${entry}/cmdline`, 'utf8').endsWith(wanted)
    } catch {
      return false
    }
  })
  if (pid === undefined) throw new Error('the supervisor is not to be found')
  return Number(pid)
}
