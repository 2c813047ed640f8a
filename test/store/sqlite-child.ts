/** A process with a store of its own. `sqlite-child.ts <driver> <file> <hold | write | fill>` */
import { systemClock } from '../../src/clock.ts'
import { loadLibsqlDriver, loadNodeDriver } from '../../src/store/sqlite/driver.ts'
import { openWith } from '../../src/store/sqlite/open.ts'
import type { Store } from '../../src/store.ts'
import { instanceRow, operationRow } from '../../src/testing/store-contract/rows.ts'

const [driverName, file = '', mode] = process.argv.slice(2)
const driver = driverName === 'libsql' ? await loadLibsqlDriver() : loadNodeDriver()
if (driver === undefined) throw new Error(`no ${driverName}`)

// Without a handler the kernel kills a process that writes beyond its file size limit; with one the write fails.
process.on('SIGXFSZ', () => {})
const store = openWith(driver, { file, clock: systemClock })
console.log('open')

if (mode === 'write') await writeForever(store)
if (mode === 'fill') {
  const written = await fill(store)
  console.log(`full ${written}`)
  await new Promise(resolve => process.stdin.once('data', resolve))
  const found = await Promise.all(Array.from({ length: written }, (_, index) => store.instance(`i${index}`)))
  await provision(store, 'after')
  console.log(`works ${found.filter(row => row !== undefined).length}`)
}
await new Promise(resolve => process.stdin.once('end', resolve).resume())
await store.close()

/** Says which instances are safe, several of them in flight at any time. */
async function writeForever(store: Store): Promise<never> {
  for (let round = 0; ; round += 1) {
    const ids = Array.from({ length: 5 }, (_, index) => `i${round * 5 + index}`)
    await Promise.all(ids.map(id => provision(store, id).then(() => console.log(`written ${id}`))))
  }
}

/** Answers how many were written before the store said that it cannot. */
async function fill(store: Store): Promise<number> {
  for (let count = 0; ; count += 1) {
    try {
      await provision(store, `i${count}`)
    } catch (error) {
      if (error instanceof Error && error.name === 'StoreUnavailableError') return count
      throw error
    }
  }
}

function provision(store: Store, id: string): Promise<void> {
  const change = {
    instance: instanceRow(id, { state: { filling: 'x'.repeat(2000) } }),
    operations: [operationRow(`${id}:provision`, id)],
  }
  return store.accept({ instanceId: id }, () => ({ answer: undefined, change }))
}
