import type { Clock } from '../clock.ts'
import type { Observer } from '../observer.ts'
import { type ReadSettings, readSettings } from '../settings/settings.ts'
import type { Store } from '../store.ts'

/** Opens the store that a URL names; each kind is loaded only where it is used. */
export async function openStore(
  url: string,
  clock: Clock,
  {
    ledger = readSettings().ledger,
    observer,
  }: { readonly ledger?: ReadSettings['ledger']; readonly observer?: Observer } = {},
): Promise<Store> {
  const { schema, poolSize, connectTimeout: connectTimeoutMs, statementTimeout: statementTimeoutMs } = ledger
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
  if (/^postgres(ql)?:/.test(url)) {
    const { openPostgresStore } = await import('../store/postgres/index.ts')
    return openPostgresStore({ url, clock, schema, poolSize, connectTimeoutMs, statementTimeoutMs, observer })
  }
  if (/^mongodb(\+srv)?:/.test(url)) {
    const { openMongoStore } = await import('../store/mongodb/index.ts')
    const prefix = `${schema}_`
    return openMongoStore({ url, prefix, poolSize, connectTimeoutMs, timeoutMs: statementTimeoutMs, observer })
  }
  const scheme = /^[a-z+]+:/.exec(url)?.[0] ?? 'this'
  throw new StoreUrlError(
    `There is no store for ${scheme} URLs. Use sqlite:<file>, postgres://… or mongodb://…, or memory: to try something out.`,
  )
}

/** A URL that names no store of this version. */
export class StoreUrlError extends Error {
  override readonly name = 'StoreUrlError'
}
