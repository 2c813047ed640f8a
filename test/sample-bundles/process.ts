/** The process runtime for the tests of bundles. */
import { chmodSync, cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll } from 'vitest'
import { systemClock } from '../../src/clock.ts'
import type { JsonObject } from '../../src/protocol/json.ts'
import { findContainment } from '../../src/sandbox/process/containment.ts'
import { createProcessRuntime } from '../../src/sandbox/process/process-runtime.ts'
import type { Runtime } from '../../src/sandbox.ts'
import { type Bundled, bundle } from '../sandbox/bundled.ts'
import { bundleUser } from '../sandbox/process-subject.ts'
import { createRunner, type Runner } from './runner.ts'

const supervisor = 'src/sandbox/process/supervisor.ts'

/** For one test file. `open` copies the bundle to where the user that it runs as can read it. */
export function useProcesses(): { open(folder: string, spec: string, secrets: JsonObject): Promise<Runner> } {
  let base = ''
  let bundled: Bundled
  let runtime: Runtime
  beforeAll(async () => {
    base = mkdtempSync(join(tmpdir(), 'purser-bundles-'))
    chmodSync(base, 0o755)
    bundled = await bundle(supervisor)
    runtime = await createProcessRuntime({
      folder: join(base, 's'),
      clock: systemClock,
      supervisor: bundled.command(supervisor),
      containment: await findContainment(),
      ...bundleUser,
    })
  })
  afterAll(() => {
    bundled.remove()
    rmSync(base, { recursive: true, force: true })
  })
  return {
    open(folder, spec, secrets) {
      const copy = mkdtempSync(join(base, 'bundle-'))
      cpSync(folder, copy, { recursive: true })
      chmodSync(copy, 0o755)
      const program = { kind: 'folder', folder: copy } as const
      return createRunner(runtime, { source: readFileSync(join(folder, spec), 'utf8'), program, secrets })
    },
  }
}
