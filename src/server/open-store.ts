import type { Clock } from '../clock.ts'
import type { Store } from '../store.ts'

/** Opens the store that a URL names; each kind is loaded only where it is used. */
export async function openStore(url: string, clock: Clock): Promise<Store> {
  if (url === 'memory:') {
    const { createMemoryStore } = await import('../store/memory/index.ts')
    return createMemoryStore({ clock })
  }
  if (url.startsWith('sqlite:')) {
    const file = url.slice('sqlite:'.length).replace(/^\/\/(?=\/)/, '')
    if (file === '')
      throw new StoreUrlError(`The store "${url}" names no file: write sqlite:<path>, for example sqlite:purser.db`)
    const { openSqliteStore } = await import('../store/sqlite/index.ts')
    return openSqliteStore({ file, clock })
  }
  const scheme = /^[a-z+]+:/.exec(url)?.[0] ?? 'this'
  throw new StoreUrlError(
    `This version has no store for ${scheme} URLs. Use sqlite:<file>, or memory: to try something out (it forgets).`,
  )
}

/** A URL that names no store of this version. */
export class StoreUrlError extends Error {
  override readonly name = 'StoreUrlError'
}
