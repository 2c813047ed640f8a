import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Containment } from '../../src/sandbox/process/containment.ts'
import { createProcessRuntime } from '../../src/sandbox/process/process-runtime.ts'
import type { SandboxSubject } from '../../src/testing/sandbox-contract.ts'
import { clockAhead } from './clocks.ts'

export interface ProcessSubject extends SandboxSubject {
  /** The runtime's folder. */
  readonly folder: string
}

/** Nobody, where the tests run as root. */
export const bundleUser = process.getuid?.() === 0 ? { user: { uid: 65534, gid: 65534 } } : {}

export function createProcessSubject(supervisor: readonly string[], containment: Containment): ProcessSubject {
  const base = mkdtempSync(join(tmpdir(), 'purser-sandbox-'))
  chmodSync(base, 0o755)
  // Longer than a socket's path may be, as folders of users are.
  const folder = join(base, 'a-folder-with-a-long-name', 'in-another-one-of-the-same-kind')
  let bundles = 0
  const open = (ahead = 0) =>
    createProcessRuntime({ folder, clock: clockAhead(ahead), supervisor, containment, ...bundleUser })
  return {
    folder,
    open,
    async program(script) {
      const bundle = join(base, `bundle-${++bundles}`)
      mkdirSync(bundle)
      writeFileSync(join(bundle, 'entrypoint.sh'), `#!/bin/sh\n${script}\n`, { mode: 0o755 })
      return { kind: 'folder', folder: bundle }
    },
    isolates: containment.network,
    survivors,
    leftovers: async () => leftoversIn(folder),
    async destroy() {
      const runtime = await open()
      for (const { name } of await runtime.list()) await runtime.remove(name)
      rmSync(base, { recursive: true, force: true })
    },
  }
}

/** Everything in a runtime's folder but the notes of what was removed. */
export function leftoversIn(folder: string): readonly string[] {
  return existsSync(folder)
    ? readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
        path => /^\./.test(path) || !/^[^/]+(\/owner)?$/.test(path),
      )
    : []
}

/** How many processes have the text in their arguments; those that are dead and not reaped yet have none. */
export function survivors(text: string): number {
  return readdirSync('/proc').filter(pid => {
    if (!/^\d+$/.test(pid)) return false
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(text)
    } catch {
      return false
    }
  }).length
}
