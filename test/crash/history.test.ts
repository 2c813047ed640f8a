import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { systemClock } from '../../src/clock.ts'
import { openSqliteStore } from '../../src/store/sqlite/index.ts'
import { verify } from '../history/tampered-ledger.ts'
import { compileOnce } from '../sandbox/bundled.ts'
import { testFolder } from '../store/sqlite-drivers.ts'
import { testKeyring } from '../store/test-keyring.ts'

const child = await compileOnce('test/crash/history-child.ts')

it('SIGKILL at every write of the chore: the chain is whole each time, and the next run ends it', async () => {
  const file = join(testFolder(), 'ledger.db')
  const open = () => openSqliteStore({ file, clock: systemClock, keyring: testKeyring('2026-a') })
  const first = await open()
  const lines = Array.from({ length: 1_200 }, (_, at) => ({ at, type: 'healed', instanceId: `i${at % 7}` }) as const)
  for (let from = 0; from < lines.length; from += 100)
    await first.accept({ instanceId: 'i' }, () => ({ answer: 0, change: { history: lines.slice(from, from + 100) } }))
  await first.close()
  let kills = 0
  for (let point = 1; ; point += 1) {
    const { signal, status, stderr } = spawnSync(process.execPath, [child, file, String(point)])
    if (signal === 'SIGKILL') kills += 1
    else expect([status, String(stderr)]).toEqual([0, expect.any(String)])
    const store = await open()
    const { fault, lines: linked, status: chain } = await verify(store, undefined, 500)
    await store.close()
    expect([fault, chain.strays, chain.anchor.no + linked + chain.unlinked]).toEqual([undefined, 0, 1_200])
    if (signal === null && status === 0) break
  }
  expect(kills).toBeGreaterThan(3)
  const store = await open()
  expect(await verify(store, undefined, 500)).toMatchObject({
    lines: 600,
    status: { anchor: { no: 600 }, unlinked: 0 },
  })
  await store.close()
})
