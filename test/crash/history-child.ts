/** Puts lines into the chain, and removes old ones, in a process of its own that kills itself at a write: `history-child.ts <file> <point>`. */
import { keepHistory } from '../../src/broker/history/link-history.ts'
import { systemClock } from '../../src/clock.ts'
import { readSettings } from '../../src/settings/settings.ts'
import { openSqliteStore } from '../../src/store/sqlite/index.ts'
import { testKeyring } from '../store/test-keyring.ts'

const [file = '', fatal = ''] = process.argv.slice(2)
let point = 0

function pass(): void {
  point += 1
  if (point === Number(fatal)) process.kill(process.pid, 'SIGKILL')
}

async function around(write: () => Promise<void>): Promise<void> {
  pass()
  const writing = write()
  // What is in the transaction, and not committed.
  pass()
  await writing
  pass()
}

const store = await openSqliteStore({ file, clock: systemClock, keyring: testKeyring('2026-a') })
const { chain } = store
if (chain === undefined) throw new Error('the store keeps no chain')
const fragile = {
  ...chain,
  link: (...values: Parameters<typeof chain.link>) => around(() => chain.link(...values)),
  drop: (...values: Parameters<typeof chain.drop>) => around(() => chain.drop(...values)),
}
const settings = readSettings({ history: { keep: '1d' } })
const { signal } = new AbortController()
// Lines of the first 600 milliseconds are too old.
await keepHistory({ store, settings }, fragile, { signal, now: () => 86_400_000 + 600 })
await store.close()
