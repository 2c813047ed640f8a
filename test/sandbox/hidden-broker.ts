/**
 * A broker that runs one sandbox as its own user, in a process of its own: `hidden-broker <options as JSON> <spec as JSON>`.
 * Prints how it ended, and what the bundle said.
 */
import { systemClock } from '../../src/clock.ts'
import { createProcessRuntime } from '../../src/sandbox/process/process-runtime.ts'
import type { SandboxSpec } from '../../src/sandbox.ts'

const [options = '', spec = ''] = process.argv.slice(2)
const wanted: SandboxSpec = JSON.parse(spec)
try {
  const runtime = await createProcessRuntime({ ...JSON.parse(options), clock: systemClock })
  await runtime.start(wanted)
  const status = await runtime.wait(wanted.name, new AbortController().signal)
  const { outputs } = await runtime.collect(wanted.name, [])
  await runtime.remove(wanted.name)
  console.log(JSON.stringify({ status, message: outputs.message }))
} catch (error) {
  console.log(JSON.stringify({ refused: String(error) }))
}
