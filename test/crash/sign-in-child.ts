/** Begins a session and ends it, in a process of its own that kills itself at a write: `sign-in-child.ts <file> <point>`. */
import { systemClock } from '../../src/clock.ts'
import { createSessions } from '../../src/http/sessions.ts'
import { wrapMethods } from '../../src/running/wrap-methods.ts'
import { openSqliteStore } from '../../src/store/sqlite/index.ts'

const [file = '', fatal = ''] = process.argv.slice(2)
let point = 0

function pass(): void {
  point += 1
  if (point === Number(fatal)) process.kill(process.pid, 'SIGKILL')
}

const store = await openSqliteStore({ file, clock: systemClock })
const fragile = wrapMethods(store, (name, method) => {
  if (name !== 'accept' && name !== 'writeNotes') return undefined
  return async (...values) => {
    pass()
    const writing = method(...values)
    // What is in the transaction, and not committed.
    pass()
    await writing
    pass()
  }
})
const memory = { remember: async () => ({ scheme: 'basic', facts: {} }), recall: async () => undefined }
const sessions = createSessions(fragile, () => memory, systemClock.now)
const session = await sessions.begin({ name: 'bob', platform: 'default', roles: [] }, {})
await sessions.end(session?.id ?? '', { by: 'ada' })
await store.close()
