import { readdir, readFile } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'

/** What `$BUNDLE_HELPERS` has: the files of this package's `helpers`, by their relative paths. */
export async function readHelpers(
  folder: string = fileURLToPath(new URL('../../../helpers', import.meta.url)),
): Promise<Readonly<Record<string, string>>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  // What Python leaves beside its sources is not ours.
  const files = entries
    .filter(entry => entry.isFile() && !entry.name.endsWith('.pyc'))
    .map(entry => join(entry.parentPath, entry.name))
  return Object.fromEntries(
    await Promise.all(
      files
        .toSorted()
        .map(async file => [relative(folder, file).replaceAll(sep, '/'), await readFile(file, 'utf8')] as const),
    ),
  )
}
