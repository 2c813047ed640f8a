/**
 * A rotation under load in a process of its own: `rotation-child.ts <file> <log> <point>`. It kills itself at the given write,
 * before or after it; what was accepted before that stands in the log.
 */
import { appendFileSync } from 'node:fs'
import { systemClock } from '../../src/clock.ts'
import { openSqliteStore } from '../../src/store/sqlite/index.ts'
import { provision } from '../../src/testing/store-contract/rows.ts'
import { testKeyring } from '../store/test-keyring.ts'

const [file = '', log = '', fatal = ''] = process.argv.slice(2)
let point = 0

function pass(): void {
  point += 1
  if (point === Number(fatal)) process.kill(process.pid, 'SIGKILL')
}

async function write<Result>(work: () => Promise<Result> | undefined): Promise<Result | undefined> {
  pass()
  const result = await work()
  pass()
  return result
}

const store = await openSqliteStore({ file, clock: systemClock, keyring: testKeyring('2026-b', '2026-a') })
let from: string | undefined
do {
  const [again] = await Promise.all([
    write(() => store.sealing?.sealAgain(from, 3)),
    write(async () => {
      // Again and again the same rows: the ledger must not grow faster than it is walked through.
      const id = `beside-${point % 2}`
      await provision(store, id, { input: { parameters: { id } } })
      appendFileSync(log, `${id}\n`)
    }),
  ])
  from = again?.next
} while (from !== undefined)
await store.close()
