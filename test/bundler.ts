/** Makes scripts of child processes one file each, which plain Node runs. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Mutation } from './mutation/mutation.ts'
import { applyMutation, findMutation } from './mutation/plugin.ts'

/** What has to be known of a mutation to apply it. */
export type SourceChange = Pick<Mutation, 'name' | 'file' | 'find' | 'replace'>

/**
 * `more` names the sources, and the folder that the files go to. Guards are switched off by changes, or by MUTATION where
 * none are given; answers the names of those that were.
 */
export async function bundleScripts(
  more: Readonly<Record<string, unknown>>,
  changes: readonly SourceChange[] = [findMutation()].filter(mutation => mutation !== undefined),
): Promise<ReadonlySet<string>> {
  const applied = new Set<string>()
  await loadBundler().build({
    outExtension: { '.js': '.mjs' },
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    packages: 'external',
    logLevel: 'error',
    plugins: [
      {
        name: 'guards off',
        setup: (build: PluginBuild) =>
          build.onLoad({ filter: /\/src\/.*\.ts$/ }, ({ path }) => {
            const fitting = changes.filter(({ file }) => path.endsWith(`/${file}`))
            if (fitting.length === 0) return undefined
            for (const { name } of fitting) applied.add(name)
            return { contents: fitting.reduce(applyMutation, readFileSync(path, 'utf8')), loader: 'ts' }
          }),
      },
    ],
    ...more,
  })
  return applied
}

interface Bundler {
  build(options: Readonly<Record<string, unknown>>): Promise<unknown>
}

interface PluginBuild {
  onLoad(
    options: { readonly filter: RegExp },
    load: (args: { readonly path: string }) => { contents: string; loader: string } | undefined,
  ): void
}

/** The one that tsx brings along. */
function loadBundler(): Bundler {
  const tsx = createRequire(import.meta.url).resolve('tsx')
  return createRequire(tsx)('esbuild')
}
