import { access, constants } from 'node:fs/promises'
import { resolve } from 'node:path'
import { configShape } from '../../settings/config.ts'
import { resolveStoreUrl } from '../../settings/store-url.ts'
import { listFields } from '../../shape/describe.ts'
import type { Mistake } from '../../shape/mistake.ts'
import { type Path, placeOf, put, quoted, type Source, valueAt } from '../../shape/place.ts'
import type { Kind } from '../../shape/shape.ts'
import { codeOf, messageOf } from '../../shape/thrown.ts'

/** Makes every path absolute, and looks whether files can be read. `folderOf` is where a path in a setting starts from. */
export async function resolveFiles(source: Source, folderOf: (path: Path) => string): Promise<readonly Mistake[]> {
  const mistakes: Mistake[] = []
  for (const { path, kind, text } of textsOf(source.root, ['file', 'folder'])) {
    const file = resolve(folderOf(path), text)
    put(source, path, file)
    const mistake = kind === 'file' ? await whyUnreadable(file) : undefined
    if (mistake !== undefined) mistakes.push({ path, place: placeOf(source, path), ...mistake })
  }
  const store = valueAt(source.root, ['store'])
  if (typeof store === 'string') put(source, ['store'], resolveStoreUrl(store, folderOf(['store'])))
  return mistakes
}

export async function whyUnreadable(file: string) {
  try {
    await access(file, constants.R_OK)
    return undefined
  } catch (error) {
    const code = codeOf(error)
    const missing = code === 'ENOENT' || code === 'ENOTDIR'
    const reason = missing ? 'does not exist' : `cannot be read (${code})`
    return { missing, problem: `found ${file}, which ${reason}`, remedy: 'correct the path' }
  }
}

/** Reads every cron pattern that is given. Its library is loaded only where there is one. */
export async function checkPatterns(source: Source): Promise<readonly Mistake[]> {
  const given = textsOf(source.root, ['cron']).filter(({ text }) => text !== '-')
  if (given.length === 0) return []
  const { createSchedule } = await import('../../engine/schedule.ts')
  return given.flatMap(({ path, text }) => {
    try {
      createSchedule(text, 'UTC')
      return []
    } catch (error) {
      const problem = `found ${quoted(text)}: ${messageOf(error)}, or "-" for off`
      return [{ path, place: placeOf(source, path), problem }]
    }
  })
}

interface GivenText {
  readonly path: Path
  readonly kind: Kind
  readonly text: string
  readonly secret: boolean
}

/** The texts that are given for settings of these kinds. */
export function textsOf(root: unknown, kinds: readonly Kind[]): GivenText[] {
  return listFields(configShape).flatMap(({ path, described: { info } }) => {
    const { kind } = info
    if (kind === undefined || !kinds.includes(kind)) return []
    return spread(root, path, []).flatMap(found => {
      const text = valueAt(root, found)
      return typeof text === 'string' && text !== '' ? [{ path: found, kind, text, secret: info.secret === true }] : []
    })
  })
}

/** The paths that `auth.basic[].username` stands for. */
function spread(root: unknown, [key, ...rest]: readonly string[], path: Path): Path[] {
  if (key === undefined) return [path]
  if (key !== '[]') return spread(root, rest, [...path, key])
  const items = valueAt(root, path)
  return Array.isArray(items) ? items.flatMap((_, index) => spread(root, rest, [...path, index])) : []
}
