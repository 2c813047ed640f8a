import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { systemClock } from '../../src/clock.ts'
import { openSqliteStore } from '../../src/store/sqlite/index.ts'
import { compileOnce } from '../sandbox/bundled.ts'
import { fillWithCanaries, shown } from '../store/encrypted-ledger.ts'
import { testFolder } from '../store/sqlite-drivers.ts'
import { testKeyring } from '../store/test-keyring.ts'

/** All points in the long run; otherwise every fifth, so that those before and after a write take turns. */
const stride = process.env.PURSER_TEST_LONG === '1' ? 1 : 5
const child = await compileOnce('test/crash/rotation-child.ts')

it('SIGKILL at every write of a rotation under load: nothing is lost, and the next one ends it', async () => {
  const folder = testFolder()
  const [file, log] = [join(folder, 'ledger.db'), join(folder, 'accepted.log')]
  const open = (...labels: readonly string[]) =>
    openSqliteStore({ file, clock: systemClock, keyring: testKeyring(...labels) })
  const first = await open('2026-a')
  await fillWithCanaries(first, ['a', 'b', 'c', 'd', 'e', 'f'])
  const before = await shown(first)
  await first.close()
  let kills = 0
  for (let point = 1; ; point += stride) {
    const { signal, status, stderr } = spawnSync(process.execPath, [child, file, log, String(point)])
    if (signal === 'SIGKILL') kills += 1
    else expect([status, String(stderr)]).toEqual([0, expect.any(String)])
    const store = await open('2026-b', '2026-a')
    try {
      expect(await shown(store)).toEqual(before)
      const accepted = existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n').filter(Boolean) : []
      for (const id of accepted)
        expect((await store.operation(`${id}:provision`))?.input).toEqual({ parameters: { id } })
    } finally {
      await store.close()
    }
    if (signal === null && status === 0) break
  }
  expect(kills).toBeGreaterThan(3)
  const rotated = await open('2026-b')
  expect(await shown(rotated)).toEqual(before)
  expect(await rotated.sealing?.uses()).toMatchObject([{ label: '2026-b' }])
  await rotated.close()
})
