import { join } from 'node:path'
import { createMemoryStore } from '../src/store/memory/index.ts'
import { openSqliteStore } from '../src/store/sqlite/index.ts'
import { type Costs, measureCosts } from './costs.ts'
import { inNewFolder } from './new-folder.ts'
import { atMost, type Result, type Round, toResult } from './result.ts'

/** The store that keeps nothing is at least as fast as the one that keeps everything. */
export async function benchStores(rounds: number): Promise<Result[]> {
  const measured = new Map<keyof Costs, Round[]>()
  await inNewFolder(async folder => {
    const sqlite = await openSqliteStore({ file: join(folder, 'ledger.db') })
    const memory = createMemoryStore()
    try {
      for (let round = 0; round <= rounds; round++) {
        const baseline = await measureCosts(sqlite)
        const ours = await measureCosts(memory)
        if (round === 0) continue
        for (const name of Object.keys(ours) as (keyof Costs)[])
          measured.set(name, [...(measured.get(name) ?? []), { ours: ours[name], baseline: baseline[name] }])
      }
    } finally {
      await Promise.all([sqlite.close(), memory.close()])
    }
  })
  return [...measured].map(([name, each]) => toResult(`memory: ${name}, against SQLite`, 'us', each, atMost(1)))
}
