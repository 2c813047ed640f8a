/** What a machine does to a SQLite ledger while a broker uses it. */
import { execFileSync } from 'node:child_process'
import { copyFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished, vi } from 'vitest'
import { createBroker, defineBroker } from '../../src/index.ts'
import { openWith } from '../../src/store/sqlite/open.ts'
import { StoreUnavailableError } from '../../src/store.ts'
import { claimOne, leaseOf, provision, standing } from '../../src/testing/store-contract/rows.ts'
import { createVirtualClock } from '../../src/testing/virtual-clock.ts'
import { serviceOf } from '../engine/world.ts'
import { describeDrivers, testFolder } from './sqlite-drivers.ts'

const hour = 3_600_000

it.each([-hour, 3 * hour])(
  'an operation ends as ever when the wall clock jumps by %i ms',
  { timeout: 60_000 },
  async jump => {
    const wall = Date.now
    const move = () => void vi.spyOn(Date, 'now').mockImplementation(() => wall() + jump)
    let attempts = 0
    const service = serviceOf({
      async provision(ctx) {
        await ctx.step('first', () => {
          attempts += 1
          if (attempts > 1) return
          // The lease of this operation and the pause before its next attempt are both under way.
          vi.spyOn(Date, 'now').mockImplementation(() => wall() + jump)
          throw new Error('not yet')
        })
        await ctx.step('second', () => {})
      },
    })
    onTestFinished(() => void vi.restoreAllMocks())
    const taken: boolean[] = []
    const broker = createBroker(defineBroker({ services: [service] }), {
      store: `sqlite:${join(testFolder(), 'ledger.db')}`,
      authenticator: 'none',
      observer: {
        'operation.started': ({ takenOver }) => void taken.push(takenOver),
        // Forward while it has a lease and a deadline, back while it waits for a time.
        'operation.parked': () => (jump < 0 ? move() : undefined),
      },
    })
    onTestFinished(() => broker.close())
    const headers = { 'x-broker-api-version': '2.17', 'content-type': 'application/json' }
    const body = JSON.stringify({ service_id: 'service', plan_id: 'plan', organization_guid: 'o', space_guid: 's' })
    const path = 'http://localhost/v2/service_instances/i'
    const put = await broker.fetch(new Request(`${path}?accepts_incomplete=true`, { method: 'PUT', headers, body }))
    expect(put.status).toBe(202)
    await vi.waitFor(
      async () => {
        const polled = await broker.fetch(new Request(`${path}/last_operation`, { headers }))
        expect(await polled.json()).toMatchObject({ state: 'succeeded' })
      },
      { timeout: 50_000, interval: 100 },
    )
    expect(attempts).toBe(2)
    expect(taken).toEqual([false, false])
  },
)

describeDrivers('sqlite on a machine', driver => {
  it('goes on where it was when the clock was set back between two starts', async () => {
    const file = join(testFolder(), 'ledger.db')
    const clock = createVirtualClock(10 * hour)
    const before = openWith(driver, { file, clock })
    await provision(before, 'i', { acceptedAt: clock.now() })
    await before.park(leaseOf(await claimOne(before)), { until: clock.now() + 1_000 })
    await before.close()

    const setBack = createVirtualClock(9 * hour)
    const store = openWith(driver, { file, clock: setBack })
    await setBack.advance(1_000)
    expect((await store.claim('w', 10, 30_000)).claims).toHaveLength(1)
    await store.close()
  })

  for (const suffix of ['', '-wal'])
    it(`answers nothing when the file ledger.db${suffix} is gone, and goes on when it is back`, async () => {
      const file = join(testFolder(), 'ledger.db')
      const store = openWith(driver, { file })
      await standing(store, 'before')
      renameSync(`${file}${suffix}`, `${file}.away`)
      await expect(provision(store, 'i')).rejects.toThrow(`ledger.db${suffix} was deleted or replaced`)
      await expect(provision(store, 'i')).rejects.toBeInstanceOf(StoreUnavailableError)
      await expect(store.ping()).rejects.toThrow('was deleted or replaced')
      renameSync(`${file}.away`, `${file}${suffix}`)
      await store.ping()
      await provision(store, 'i')
      await store.close()
    })

  it('answers nothing when another file stands in its place', async () => {
    const file = join(testFolder(), 'ledger.db')
    const store = openWith(driver, { file })
    await standing(store, 'before')
    copyFileSync(file, `${file}.copy`)
    renameSync(`${file}.copy`, file)
    await expect(provision(store, 'i')).rejects.toThrow('was deleted or replaced')
    await expect(store.ping()).rejects.toBeInstanceOf(StoreUnavailableError)
    await store.close()
  })

  const why = mountable() ? '' : ' (skipped: this user cannot mount a small disk)'
  it.skipIf(why !== '')(`is not ready while its disk is full${why}`, async () => {
    const folder = smallDisk()
    const store = openWith(driver, { file: join(folder, 'ledger.db') })
    await standing(store, 'before')
    await store.ping()
    const filler = join(folder, 'filler')
    expect(() => writeFileSync(filler, Buffer.alloc(8 * 1024 * 1024))).toThrow('ENOSPC')
    await expect(store.ping()).rejects.toThrow('the disk is full')
    expect((await store.instance('before'))?.id).toBe('before')
    rmSync(filler)
    await store.ping()
    await store.close()
  })
})

function mountable(): boolean {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return false
  try {
    execFileSync('unshare', ['--mount', 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

function smallDisk(): string {
  const folder = testFolder()
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=4m', 'tmpfs', folder])
  onTestFinished(() => void execFileSync('umount', ['--lazy', folder]))
  return folder
}
