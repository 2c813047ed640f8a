/** The scripts of the child processes, each as one file: a replica that was killed is back in a moment. */
import { randomUUID } from 'node:crypto'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { bundleScripts } from '../bundler.ts'
import type { Mutation } from '../mutation/mutations.ts'
import { applyMutation } from '../mutation/plugin.ts'

export interface Bundle {
  readonly replica: string
  readonly backend: string
  remove(): void
}

/** What a storm's guard needs of a mutation. */
export type SourceChange = Pick<Mutation, 'name' | 'file' | 'find' | 'replace'>

const root = join(import.meta.dirname, '..', '..')

/** Bundles the sources, with guards switched off where changes are given. */
export async function createBundle(changes: readonly SourceChange[] = []): Promise<Bundle> {
  // Below the project, so that packages are found; beside node_modules nobody looks for sources.
  const folder = join(root, '.cache', 'storm', randomUUID())
  const applied = new Set<string>()
  await bundleScripts({
    entryPoints: ['replica', 'backend'].map(name => join(import.meta.dirname, `${name}.ts`)),
    outdir: folder,
    plugins: [
      {
        name: 'guards off',
        setup: (build: PluginBuild) =>
          build.onLoad({ filter: /\/src\/.*\.ts$/ }, ({ path }) => {
            const fitting = changes.filter(({ file }) => path.endsWith(`/${file}`))
            if (fitting.length === 0) return undefined
            for (const { name } of fitting) applied.add(name)
            const source = fitting.reduce((text, change) => applyMutation(text, { ...change, suite: [] }), read(path))
            return { contents: source, loader: 'ts' }
          }),
      },
    ],
  })
  const missed = changes.filter(({ name }) => !applied.has(name))
  if (missed.length > 0) throw new Error(`not a part of a replica: ${missed.map(({ file }) => file).join(', ')}`)
  return {
    replica: join(folder, 'replica.mjs'),
    backend: join(folder, 'backend.mjs'),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}

const read = (path: string) => readFileSync(path, 'utf8')

interface PluginBuild {
  onLoad(
    options: { readonly filter: RegExp },
    load: (args: { readonly path: string }) => { contents: string; loader: string } | undefined,
  ): void
}
