/** The scripts of the child processes, each as one file: a replica that was killed is back in a moment. */
import { randomUUID } from 'node:crypto'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { bundleScripts, type SourceChange } from '../bundler.ts'

export interface Bundle {
  readonly replica: string
  readonly backend: string
  remove(): void
}

const root = join(import.meta.dirname, '..', '..')

/** Bundles the sources, with guards switched off where changes are given. */
export async function createBundle(changes: readonly SourceChange[] = []): Promise<Bundle> {
  // Below the project, so that packages are found; beside node_modules nobody looks for sources.
  const folder = join(root, '.cache', 'storm', randomUUID())
  const entryPoints = ['replica', 'backend'].map(name => join(import.meta.dirname, `${name}.ts`))
  const applied = await bundleScripts({ entryPoints, outdir: folder }, changes)
  const missed = changes.filter(({ name }) => !applied.has(name))
  if (missed.length > 0) throw new Error(`not a part of a replica: ${missed.map(({ file }) => file).join(', ')}`)
  return {
    replica: join(folder, 'replica.mjs'),
    backend: join(folder, 'backend.mjs'),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}
