import { access, constants } from 'node:fs/promises'
import { resolve } from 'node:path'
import { resolveStoreUrl } from '../../settings/store-url.ts'
import type { Mistake } from '../../shape/mistake.ts'
import { type Path, placeOf, put, type Source, valueAt } from '../../shape/place.ts'
import { textsOf } from './values.ts'

/** Makes every path absolute, and looks whether files can be read. `folderOf` is where a path in a setting starts from. */
export async function resolveFiles(source: Source, folderOf: (path: Path) => string): Promise<readonly Mistake[]> {
  const mistakes: Mistake[] = []
  for (const { path, kind, text } of textsOf(source.root, ['file', 'folder'])) {
    const file = resolve(folderOf(path), text)
    put(source, path, file)
    const reason = kind === 'file' ? await whyUnreadable(file) : undefined
    if (reason !== undefined) mistakes.push({ path, place: placeOf(source, path), ...unreadable(file, reason) })
  }
  const store = valueAt(source.root, ['store'])
  if (typeof store === 'string') put(source, ['store'], resolveStoreUrl(store, folderOf(['store'])))
  return mistakes
}

export function unreadable(file: string, reason: string) {
  return { problem: `found ${file}, which ${reason}`, remedy: 'correct the path' }
}

export async function whyUnreadable(file: string): Promise<string | undefined> {
  try {
    await access(file, constants.R_OK)
    return undefined
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    return code === 'ENOENT' || code === 'ENOTDIR' ? 'does not exist' : `cannot be read (${String(code)})`
  }
}
