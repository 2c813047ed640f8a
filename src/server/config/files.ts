import { access, constants } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { Mistake } from './mistake.ts'
import { resolveStoreUrl } from './store-url.ts'
import { findOrigin, getIn, type Origins, setIn, type Tree, toPath } from './tree.ts'

/** Makes every path absolute (from the file that it stands in, else from `cwd`) and looks whether it can be read. */
export async function resolveFiles(tree: Tree, origins: Origins, cwd: string): Promise<readonly Mistake[]> {
  const mistakes: Mistake[] = []
  for (const key of [...fileSettings, ...secretFiles(tree)]) {
    const value = getIn(tree, key)
    if (typeof value !== 'string' || value === '') continue
    const origin = findOrigin(origins, key)
    const file = resolve(origin?.folder ?? cwd, value)
    setIn(tree, key, file)
    const reason = await whyUnreadable(file)
    if (reason !== undefined) {
      mistakes.push({
        where: origin?.where,
        path: toPath(key),
        problem: `found ${file}, which ${reason}; correct the path`,
      })
    }
  }
  for (const key of placeSettings) {
    const value = getIn(tree, key)
    if (typeof value === 'string' && value !== '')
      setIn(tree, key, resolve(findOrigin(origins, key)?.folder ?? cwd, value))
  }
  const store = tree.store
  if (typeof store === 'string') tree.store = resolveStoreUrl(store, findOrigin(origins, ['store'])?.folder ?? cwd)
  return mistakes
}

const fileSettings: readonly (readonly string[])[] = [
  ['broker'],
  ['catalog'],
  ['server', 'tls', 'cert'],
  ['server', 'tls', 'key'],
  ['server', 'tls', 'ca'],
]

/** Made when they are needed, or there only later. */
const placeSettings: readonly (readonly string[])[] = [
  ['bundles', 'folder'],
  ['bundles', 'secretsFolder'],
  ['bundles', 'socket'],
]

function secretFiles(tree: Tree): (readonly (string | number)[])[] {
  const secrets = getIn(tree, ['bundles', 'secrets'])
  return Array.isArray(secrets) ? secrets.map((_, index) => ['bundles', 'secrets', index, 'file']) : []
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
