import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findContainment } from '../../src/sandbox/process/containment.ts'
import { whyNotRuntime } from '../external/wanted-runtime.ts'
import { type Bundled, bundle } from './bundled.ts'
import { createProcessSubject } from './process-subject.ts'
import { runSandboxContract } from './run-contract.ts'

const supervisor = 'src/sandbox/process/supervisor.ts'
const found = await findContainment()
const unwanted = whyNotRuntime('process', () => undefined)
const group = { ...found, namespaces: false, network: false }

let bundled: Bundled
beforeAll(async () => {
  bundled = await bundle(supervisor)
})
afterAll(() => bundled.remove())

runSandboxContract('process in namespaces', () => createProcessSubject(bundled.command(supervisor), found), {
  reason: unwanted ?? (found.namespaces ? undefined : 'this machine allows no namespaces'),
  isolates: found.network,
})
runSandboxContract('process in a group', () => createProcessSubject(bundled.command(supervisor), group), {
  reason: unwanted,
  isolates: false,
})

describe.skipIf(unwanted !== undefined)('a process', () => {
  it('that takes too much memory is told so', async () => {
    const subject = createProcessSubject(bundled.command(supervisor), found)
    try {
      const runtime = await subject.open()
      await runtime.start({
        name: 'operation-1',
        labels: {},
        program: await subject.program('head -c 500000000 /dev/zero | tail -c 400000000 > /dev/null'),
        inputs: { action: 'provision', input: {}, extraVars: {}, state: {}, helpers: {}, env: {} },
        limits: { time: 600_000, memory: 64 * 1024 * 1024 },
        network: 'allowed',
      })
      const status = await runtime.wait('operation-1', new AbortController().signal)
      expect(status).toEqual({ kind: 'exited', code: 137, stopped: 'memory' })
    } finally {
      await subject.destroy()
    }
  })

  it('is not started where its network could not be taken away', async () => {
    const subject = createProcessSubject(bundled.command(supervisor), group)
    try {
      const runtime = await subject.open()
      const started = runtime.start({
        name: 'operation-1',
        labels: {},
        program: await subject.program('exit 0'),
        inputs: { action: 'provision', input: {}, extraVars: {}, state: {}, helpers: {}, env: {} },
        limits: { time: 600_000 },
        network: 'none',
      })
      await expect(started).rejects.toThrow('lets no process be cut off from the network')
      expect(await runtime.list()).toEqual([])
    } finally {
      await subject.destroy()
    }
  })
})
