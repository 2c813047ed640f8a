/** The one table of stores: which adapter opens which URLs. The configuration and every message about URLs go by it. */
import type { Clock } from '../clock.ts'
import type { Observer } from '../observer.ts'
import type { Keyring } from '../sealing.ts'
import type { Store } from '../store.ts'
import type { StoreExam } from './exam.ts'
import type { LedgerOptions } from './options.ts'

/** What a store can be told besides its URL. Stores without a server need only the clock. */
interface OpenOptions extends LedgerOptions {
  readonly clock: Clock
  readonly keyring?: Keyring
  readonly observer?: Observer
}

interface Adapter {
  readonly schemes: readonly string[]
  /** How people write its URLs. */
  readonly form: string
  /** Others than the broker reach what it writes: it is encrypted, or somebody has said that it need not be. */
  readonly server?: true
  /** What an application installs beside this package to use it. */
  readonly package?: string
  /** Whether what stands behind the scheme can name a store. */
  accepts(rest: string): boolean
  /** Loads the adapter, which nobody pays for who does not use it, and opens the store. */
  open(url: string, options: OpenOptions): Promise<Store>
  /** Looks at the store from outside, and changes nothing. `name` is that of a replica. Absent where there is nothing to see. */
  examine?(url: string, options: LedgerOptions & { readonly name?: string }): Promise<StoreExam>
  /** Brings the store up to date without a broker, and says how it is then. Absent where only to open it does that. */
  migrate?(url: string, options: LedgerOptions): Promise<string>
  /** The SQL that `migrate` would run; undefined where nothing is pending. Absent where the store takes no SQL. */
  migrationScript?(url: string, options: LedgerOptions): Promise<string | undefined>
}

export const adapters: readonly Adapter[] = [
  {
    schemes: ['memory:'],
    form: 'memory:',
    accepts: rest => rest === '',
    async open(_url, { clock, keyring }) {
      const { createMemoryStore } = await import('./memory/index.ts')
      return createMemoryStore({ clock, keyring })
    },
  },
  {
    schemes: ['sqlite:'],
    form: 'sqlite:<file>',
    package: 'libsql',
    accepts: rest => sqliteFile(rest) !== '' && !rest.startsWith(':'),
    async open(url, { clock, keyring }) {
      const { openSqliteStore } = await import('./sqlite/index.ts')
      return openSqliteStore({ file: sqliteFile(url.slice('sqlite:'.length)), clock, keyring })
    },
    async examine(url) {
      const { examineSqlite } = await import('./sqlite/exam.ts')
      return examineSqlite(sqliteFile(url.slice('sqlite:'.length)))
    },
  },
  {
    schemes: ['postgres:', 'postgresql:'],
    form: 'postgres://…',
    server: true,
    package: 'pg',
    accepts: namesServer,
    async open(url, options) {
      const { openPostgresStore } = await import('./postgres/index.ts')
      return openPostgresStore({ url, ...options })
    },
    async examine(url, options) {
      const { examinePostgres } = await import('./postgres/open.ts')
      return examinePostgres({ url, ...options })
    },
    async migrate(url, options) {
      const { applyMigrations } = await import('./postgres/index.ts')
      const applied = await applyMigrations({ url, ...options })
      return applied === 0 ? 'is up to date: nothing is pending' : 'was brought up to date'
    },
    async migrationScript(url, options) {
      const { migrationScript } = await import('./postgres/index.ts')
      return migrationScript({ url, ...options })
    },
  },
  {
    schemes: ['mongodb:', 'mongodb+srv:'],
    form: 'mongodb://…',
    server: true,
    package: 'mongodb',
    accepts: namesServer,
    async open(url, options) {
      const { openMongoStore } = await import('./mongodb/index.ts')
      return openMongoStore({ url, ...options })
    },
    async examine(url, options) {
      const { examineMongo } = await import('./mongodb/open.ts')
      return examineMongo({ url, ...options })
    },
    async migrate(url, options) {
      const { prepareMongoStore } = await import('./mongodb/index.ts')
      await prepareMongoStore({ url, ...options })
      return 'has all its collections and indexes'
    },
  },
]

/** The adapter that opens the URL; undefined where its scheme, or what stands behind it, names no store. */
export function findAdapter(url: string): Adapter | undefined {
  return adapters.find(({ schemes, accepts }) =>
    schemes.some(scheme => url.startsWith(scheme) && accepts(url.slice(scheme.length))),
  )
}

/** How the URL of a store can be written, for messages. Intl.ListFormat would cost each start 13 ms and 7 MB. */
export const storeForms = adapters
  .map(({ form }) => form)
  .join(', ')
  .replace(/, ([^,]+)$/, ' or $1')

/** `sqlite:a.db`, `sqlite:/a.db` and `sqlite:///a.db`. */
export function sqliteFile(rest: string): string {
  return rest.startsWith('//') ? rest.slice(2) : rest
}

function namesServer(rest: string): boolean {
  return /^\/\/./.test(rest)
}
