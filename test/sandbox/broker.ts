/**
 * A broker that starts one sandbox, in a process of its own: `broker <spec as JSON> <folder> <supervisor as JSON>`. Says
 * `started`, and waits for the end until it is killed.
 */
import { systemClock } from '../../src/clock.ts'
import { findContainment } from '../../src/sandbox/process/containment.ts'
import { createProcessRuntime } from '../../src/sandbox/process/process-runtime.ts'
import type { SandboxSpec } from '../../src/sandbox.ts'

const [spec = '', folder = '', supervisor = ''] = process.argv.slice(2)
const wanted: SandboxSpec = JSON.parse(spec)
const runtime = await createProcessRuntime({
  folder,
  clock: systemClock,
  supervisor: JSON.parse(supervisor),
  containment: await findContainment(),
  ...(process.getuid?.() === 0 ? { user: { uid: 65534, gid: 65534 } } : {}),
})
await runtime.start(wanted)
console.log('started')
await runtime.wait(wanted.name, new AbortController().signal)
