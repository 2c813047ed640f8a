/**
 * A broker that runs one sandbox as a container, in a process of its own: `container-broker <spec as JSON> <folder> <socket>`.
 * It is there to be killed.
 */
import { systemClock } from '../../src/clock.ts'
import { createContainerRuntime } from '../../src/sandbox/container/container-runtime.ts'
import type { SandboxSpec } from '../../src/sandbox.ts'
import { sandboxUser } from '../external/container-engine.ts'

const [spec = '', folder = '', socket = ''] = process.argv.slice(2)
const wanted: SandboxSpec = JSON.parse(spec)
const runtime = createContainerRuntime({ socket, folder, user: sandboxUser, clock: systemClock })
await runtime.start(wanted)
// The clock's timers keep no process alive.
const alive = setInterval(() => undefined, 1000)
await runtime.wait(wanted.name, new AbortController().signal)
await runtime.collect(wanted.name, [])
await runtime.remove(wanted.name)
clearInterval(alive)
