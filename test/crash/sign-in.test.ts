import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { systemClock } from '../../src/clock.ts'
import { openSqliteStore } from '../../src/store/sqlite/index.ts'
import { compileOnce } from '../sandbox/bundled.ts'
import { testFolder } from '../store/sqlite-drivers.ts'

const child = await compileOnce('test/crash/sign-in-child.ts')

it('SIGKILL at every write of a session: it stands with its line, or neither does', async () => {
  let kills = 0
  const seen = new Set<string>()
  for (let point = 1; ; point += 1) {
    const file = join(testFolder(), 'ledger.db')
    const { signal, status, stderr } = spawnSync(process.execPath, [child, file, String(point)])
    if (signal === 'SIGKILL') kills += 1
    else expect([status, String(stderr)]).toEqual([0, expect.any(String)])
    const store = await openSqliteStore({ file, clock: systemClock })
    const verbs = (await store.history('')).map(({ verb }) => verb)
    const sessions = (await store.notes('session', { limit: 9 })).length
    await store.close()
    seen.add(JSON.stringify([sessions, ...verbs]))
    if (signal === null) break
  }
  expect(kills).toBe(6)
  expect([...seen]).toEqual(['[0]', '[1,"sign-in"]', '[0,"sign-in","end-session"]'])
})
