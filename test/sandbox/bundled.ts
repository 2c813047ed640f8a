/** Scripts of child processes, each as one file that plain Node runs. */
import { randomUUID } from 'node:crypto'
import { rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import { bundleScripts } from '../bundler.ts'

const root = join(import.meta.dirname, '..', '..')

export interface Bundled {
  /** The script of that source. */
  file(source: string): string
  /** The command that runs it. */
  command(source: string): readonly string[]
  remove(): void
}

/** Sources are named from the project's folder. */
export async function bundle(...sources: readonly string[]): Promise<Bundled> {
  const folder = join(root, '.cache', 'sandbox', randomUUID())
  await bundleScripts({
    entryPoints: sources.map(source => join(root, source)),
    outdir: folder,
    entryNames: '[name]',
  })
  const file = (source: string) => join(folder, `${basename(source, '.ts')}.mjs`)
  return {
    file,
    command: source => [process.execPath, file(source)],
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}
