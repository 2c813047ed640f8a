import { systemClock } from '../clock.ts'
import { openStore } from '../running/open-store.ts'
import { findAdapter } from '../store/schemes.ts'
import type { Environment } from './config/placeholders.ts'
import { loadConfig, maskStoreUrl } from './config.ts'

export interface MigrateOptions {
  readonly store?: string | undefined
  readonly config?: string | undefined
  readonly env: Environment
  readonly cwd: string
}

/** Brings the store that a broker would open up to date, as the broker itself does when it starts. Answers what was done, for people. */
export async function migrateStore(options: MigrateOptions): Promise<string> {
  const { url, name, ledger } = await findStore(options)
  if (migrationsOf(url) === 'as SQL') {
    const { applyMigrations } = await import('../store/postgres/index.ts')
    const applied = await applyMigrations({ url, ...ledger })
    return applied === 0 ? upToDate(name) : `${name} was brought up to date.`
  }
  if (migrationsOf(url) === 'at start') return migratesItself(name)
  await (await openStore(url, systemClock, { ledger })).close()
  return `${name} has all its collections and indexes.`
}

/** What `migrateStore` would do, as SQL that psql runs as it is: where there is nothing to run, a comment says why. */
export async function previewMigration(options: MigrateOptions): Promise<string> {
  const { url, name, ledger } = await findStore(options)
  if (migrationsOf(url) === 'as SQL') {
    const { migrationScript } = await import('../store/postgres/index.ts')
    return (await migrationScript({ url, ...ledger })) ?? comment(upToDate(name))
  }
  if (migrationsOf(url) === 'at start') return comment(migratesItself(name))
  return comment(`${name} takes no SQL: purser migrate makes the collections and indexes that are missing.`)
}

async function findStore({ store, config: file, env, cwd }: MigrateOptions) {
  const config = await loadConfig({ file, env, flags: { store }, cwd })
  return { url: config.store, name: maskStoreUrl(config.store), ledger: config.ledger }
}

function comment(sentence: string): string {
  return `-- ${sentence}\n`
}

function migrationsOf(url: string) {
  return findAdapter(url)?.migrations
}

function upToDate(name: string): string {
  return `${name} is up to date: nothing is pending.`
}

function migratesItself(name: string): string {
  return `${name} is brought up to date whenever a broker opens it: there is nothing to do.`
}
