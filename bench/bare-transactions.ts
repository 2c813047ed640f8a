import { join } from 'node:path'
import { loadDriver } from '../src/store/sqlite/driver.ts'

/** The baseline of durability: two rows in one transaction, synced, one after the other. Transactions per second. */
export async function createBareTransactions(folder: string): Promise<{ run(ms: number): number; close(): void }> {
  const database = (await loadDriver()).open(join(folder, 'bare.db'))
  database.exec('pragma journal_mode = wal; pragma synchronous = full')
  database.exec(
    'create table resource (id text primary key, doc text); create table work (id text primary key, doc text)',
  )
  const begin = database.prepare('begin immediate')
  const commit = database.prepare('commit')
  const resource = database.prepare('insert into resource values (?, ?)')
  const work = database.prepare('insert into work values (?, ?)')
  const doc = JSON.stringify({ text: 'x'.repeat(400) })
  let n = 0
  return {
    run(ms) {
      const started = performance.now()
      let done = 0
      while (performance.now() - started < ms) {
        begin.run()
        resource.run(`r-${n}`, doc)
        work.run(`w-${n++}`, doc)
        commit.run()
        done++
      }
      return (done * 1000) / (performance.now() - started)
    },
    close: () => database.close(),
  }
}
