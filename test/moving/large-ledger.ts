/** In a process of its own, with little memory: makes a large ledger in a SQLite file, or moves one, as the arguments say. */
import { createReadStream } from 'node:fs'
import { systemClock } from '../../src/clock.ts'
import { exportStore, importStore } from '../../src/server/move.ts'
import { openSqliteStore } from '../../src/store/sqlite/index.ts'
import type { LedgerRow } from '../../src/store.ts'
import { bindingRow, instanceRow, operationRow } from '../../src/testing/store-contract/rows.ts'

const [command = '', target = '', given = ''] = process.argv.slice(2)
const choice = { store: target, env: {}, cwd: process.cwd() }

if (command === 'make') {
  const store = await openSqliteStore({ file: target, clock: systemClock })
  const text = 'x'.repeat(300)
  const count = Number(given)
  for (let first = 0; first < count; first += 500) {
    const numbers = Array.from({ length: Math.min(500, count - first) }, (_, index) => first + index)
    const rows = numbers.flatMap((number): LedgerRow[] => {
      const id = `instance-${number}`
      const lastOperationId = `operation-${number}`
      return [
        { instance: instanceRow(id, { phase: 'ready', state: { text, number }, lastOperationId, createdAt: number }) },
        { binding: bindingRow(id, 'b', { phase: 'ready', lastOperationId: `bind-${number}` }) },
        { operation: operationRow(lastOperationId, id, { state: 'succeeded', finishedAt: number }) },
        { operation: operationRow(`bind-${number}`, id, { bindingId: 'b', state: 'succeeded', finishedAt: number }) },
        { history: { at: number, type: 'succeeded', instanceId: id, operationId: lastOperationId } },
      ]
    })
    await store.moving?.importRows(rows, undefined)
  }
  await store.close()
}
if (command === 'export')
  await exportStore(choice, {
    secrets: true,
    write: text =>
      new Promise(resolve => void (process.stdout.write(text) ? resolve() : process.stdout.once('drain', resolve))),
  })
if (command === 'import')
  console.error(JSON.stringify(await importStore(choice, given === '' ? process.stdin : createReadStream(given))))
process.exitCode = 0
