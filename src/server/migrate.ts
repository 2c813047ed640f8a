import type { Environment } from '../shape/placeholders.ts'
import { findAdapter } from '../store/schemes.ts'
import { loadConfig, maskStoreUrl } from './config.ts'

export interface MigrateOptions {
  readonly store?: string | undefined
  readonly config?: string | undefined
  readonly env: Environment
  readonly cwd: string
}

/** Brings the store that a broker would open up to date, as the broker itself does when it starts. Answers what was done, for people. */
export async function migrateStore(options: MigrateOptions): Promise<string> {
  const { url, name, adapter, ledger } = await findStore(options)
  if (adapter?.migrate === undefined) return migratesItself(name)
  return `${name} ${await adapter.migrate(url, ledger)}.`
}

/** What `migrateStore` would do, as SQL that psql runs as it is: where there is nothing to run, a comment says why. */
export async function previewMigration(options: MigrateOptions): Promise<string> {
  const { url, name, adapter, ledger } = await findStore(options)
  if (adapter?.migrate === undefined) return comment(migratesItself(name))
  if (adapter.migrationScript === undefined)
    return comment(`${name} takes no SQL: purser migrate makes the collections and indexes that are missing.`)
  return (await adapter.migrationScript(url, ledger)) ?? comment(`${name} is up to date: nothing is pending.`)
}

async function findStore({ store, config: file, env, cwd }: MigrateOptions) {
  const { store: found, ledger } = await loadConfig({ file, env, flags: { store }, cwd })
  const url = found.reveal()
  return { url, name: maskStoreUrl(url), adapter: findAdapter(url), ledger }
}

function comment(sentence: string): string {
  return `-- ${sentence}\n`
}

function migratesItself(name: string): string {
  return `${name} is brought up to date whenever a broker opens it: there is nothing to do.`
}
