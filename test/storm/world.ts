import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { SourceChange } from '../bundler.ts'
import { createBundle } from './bundle.ts'
import { Cluster } from './cluster.ts'
import { type Database, type DatabaseKind, startDatabase } from './databases.ts'
import { createRandom, type Random } from './random.ts'
import type { Timing } from './settings.ts'

export const platforms = ['cloud', 'cluster', 'portal'] as const

/** A database, replicas and a backend of their own, taken down in the end whatever happens. */
export interface World {
  readonly database: Database
  readonly cluster: Cluster
  readonly random: Random
  /** Keeps the logs of the processes, with this beside them, and answers where. */
  keep(evidence: object): string
}

export interface WorldOptions {
  readonly kind: DatabaseKind
  readonly seed: string
  readonly timing: Timing
  /** Guards that are switched off. */
  readonly changes?: readonly SourceChange[]
}

export async function inWorld<T>(options: WorldOptions, run: (world: World) => Promise<T>): Promise<T> {
  const random = createRandom(options.seed)
  const folder = mkdtempSync(join(tmpdir(), 'purser-storm-'))
  const bundle = await createBundle(options.changes)
  let kept = false
  let database: Database | undefined
  let cluster: Cluster | undefined
  try {
    database = await startDatabase(options.kind)
    cluster = new Cluster({ ...options, bundle, database, random, folder, platforms })
    await cluster.start()
    return await run({
      database,
      cluster,
      random,
      keep(evidence) {
        kept = true
        writeFileSync(join(folder, 'evidence.json'), JSON.stringify(evidence, null, 1))
        return folder
      },
    })
  } finally {
    await cluster?.end()
    await database?.stop()
    bundle.remove()
    if (!kept) rmSync(folder, { recursive: true, force: true })
  }
}
