import { existsSync } from 'node:fs'
import { exportLedger } from '../broker/moving/export-ledger.ts'
import { type Imported, importLedger } from '../broker/moving/import-ledger.ts'
import { linesOf } from '../broker/moving/lines.ts'
import { systemClock } from '../clock.ts'
import { openStore } from '../running/open-store.ts'
import type { Environment } from '../shape/placeholders.ts'
import { sqliteFile } from '../store/schemes.ts'
import { type Store, StoreOpenError } from '../store.ts'
import { loadConfig, maskStoreUrl } from './config.ts'

export interface StoreChoice {
  readonly store?: string | undefined
  readonly config?: string | undefined
  readonly env: Environment
  readonly cwd: string
}

interface Exporting {
  readonly secrets: boolean
  write(text: string): Promise<void> | void
  onProgress?(rows: number, total: number): void
}

/** Writes all rows of the store that a broker would open. */
export function exportStore(choice: StoreChoice, exporting: Exporting): Promise<void> {
  return withStore({ ...choice, isThere: true }, store => exportLedger(store, { ...exporting, now: systemClock.now() }))
}

/** Reads an export into the store that a broker would open. */
export function importStore(
  choice: StoreChoice,
  input: AsyncIterable<string | Uint8Array>,
  onProgress?: (rows: number) => void,
): Promise<Imported> {
  return withStore(choice, store => importLedger(store, linesOf(input), onProgress))
}

/** Copies the file of a SQLite store; says how else it is done for any other. */
export function backupStore(choice: StoreChoice, file: string): Promise<string> {
  return withStore({ ...choice, isThere: true }, async ({ moving, name }) => {
    if (moving?.backup === undefined)
      throw new StoreOpenError('unusable-path', `${name} is not a file: ${otherWay(name)}`)
    await moving.backup(file)
    return name
  })
}

function otherWay(name: string): string {
  if (name.startsWith('postgres')) return 'use pg_dump, or the backups of its server'
  return name.startsWith('mongodb')
    ? 'use mongodump, or the backups of its server'
    : 'nothing of it outlives its broker'
}

/** `isThere`: a file that is missing is a mistake, and is not made. */
async function withStore<Result>(
  choice: StoreChoice & { readonly isThere?: boolean },
  work: (store: Store) => Promise<Result>,
): Promise<Result> {
  const { config: file, env, cwd, store: named, isThere = false } = choice
  const { store: found, ledger, encryption } = await loadConfig({ file, env, flags: { store: named }, cwd })
  const url = found.reveal()
  if (url === 'memory:')
    throw new StoreOpenError(
      'unusable-path',
      `${maskStoreUrl(url)} is in the process of its broker: ask that one with --url`,
    )
  if (isThere && url.startsWith('sqlite:') && !existsSync(sqliteFile(url.slice('sqlite:'.length))))
    throw new StoreOpenError('unusable-path', `${maskStoreUrl(url)} is not there: check --store, or the configuration`)
  const store = await openStore(url, systemClock, { ledger, encryption })
  try {
    return await work(store)
  } finally {
    await store.close()
  }
}
