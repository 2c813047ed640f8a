/** Scripts of child processes, each as one file that plain Node runs. */
import { randomUUID } from 'node:crypto'
import { rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, join } from 'node:path'

const root = join(import.meta.dirname, '..', '..')

export interface Bundled {
  /** The command that runs the script of that source. */
  command(source: string): readonly string[]
  remove(): void
}

/** Sources are named from the project's folder. */
export async function bundle(...sources: readonly string[]): Promise<Bundled> {
  const folder = join(root, '.cache', 'sandbox', randomUUID())
  await loadBundler().build({
    entryPoints: sources.map(source => join(root, source)),
    outdir: folder,
    entryNames: '[name]',
    outExtension: { '.js': '.mjs' },
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    packages: 'external',
    logLevel: 'error',
  })
  return {
    command: source => [process.execPath, join(folder, `${basename(source, '.ts')}.mjs`)],
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}

interface Bundler {
  build(options: Readonly<Record<string, unknown>>): Promise<unknown>
}

/** The one that tsx brings along. */
function loadBundler(): Bundler {
  const tsx = createRequire(import.meta.url).resolve('tsx')
  return createRequire(tsx)('esbuild')
}
