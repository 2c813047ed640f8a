/** Scripts of child processes, each as one file that plain Node runs. */
import { randomUUID } from 'node:crypto'
import { rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import { afterAll } from 'vitest'
import { bundleScripts } from '../bundler.ts'

const root = join(import.meta.dirname, '..', '..')

export interface Bundled {
  /** The script of that source. */
  file(source: string): string
  /** The command that runs it. */
  command(source: string): readonly string[]
  remove(): void
}

/** The script of one source, for the tests of a file that start it often. */
export async function compileOnce(source: string): Promise<string> {
  const { file, remove } = await bundle(source)
  afterAll(remove)
  return file(source)
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
