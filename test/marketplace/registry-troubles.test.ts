/** One after the other, all that can happen to a registry, while instances of what it offers live. */
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { whyNoRegistry } from '../registry/docker-registry.ts'
import { labelsOf } from '../registry/push.ts'
import { idsOf, openShop, type Shop } from './shop.ts'

const reason = whyNoRegistry()
const patience = { timeout: 60_000, interval: 50 }
let shop: Shop
/** How to put back what was taken out of the registry. */
const away = new Map<string, () => void>()

describe.skipIf(reason !== undefined)(
  `a marketplace of hundreds of bundles${reason === undefined ? '' : ` (skipped: ${reason})`}`,
  () => {
    beforeAll(async () => {
      shop = await openShop(210)
      await shop.start()
    })
    afterAll(() => shop?.close())

    it('has them all, over several pages, with the ids that they have always had', async () => {
      expect(await shop.synced()).toBe('210 added')
      expect(shop.front.asked.filter(path => path.includes('/_catalog')).length).toBeGreaterThan(2)
      expect(await shop.status()).toMatchObject({ type: 'oci', partial: false, failures: 0 })
      for (const name of ['b001-apb', 'b003-apb', 'b011-apb', 'b012-apb', 'b020-apb', 'b021-apb', 'b030-apb'])
        await shop.provision(`on-${name}`, name)
      await shop.expectAllWell()
    })

    it('loses nothing by damage in the registry, and says where it is', async () => {
      const mend = [
        shop.damage('b001-apb', 'manifest', 'garbage'),
        shop.damage('b002-apb', 'manifest', 'garbage'),
        shop.damage('b003-apb', 'config', 'deleted'),
        shop.damage('b004-apb', 'config', 'garbage'),
      ]
      expect(await shop.sync()).toBe('4 problems')
      const problems = ['b001', 'b002', 'b003', 'b004'].map(name => expect.stringContaining(`apps/${name}-apb: `))
      expect(await shop.status()).toMatchObject({ partial: true, failures: 0, problems })
      await shop.expectAllWell()
      for (const repair of mend) repair()
      expect(await shop.sync()).toBe('nothing to do')
      expect(await shop.status()).toMatchObject({ partial: false })
    })

    it('takes out what a complete answer no longer has, and keeps what an instance needs', async () => {
      for (const name of ['b010-apb', 'b011-apb', 'b012-apb']) {
        away.set(name, shop.withdraw(name))
        shop.offered.delete(name)
      }
      expect(await shop.sync()).toBe('3 retired, 1 deleted, 2 vanished images')
      await shop.expectAllWell()
      expect(await shop.life.provision('late', idsOf('b011-apb'))).toMatchObject({ status: 400 })
      await shop.deprovision('on-b011-apb')
      await expectGone('b011-apb')
    })

    it('takes back what returns, follows a tag, and publishes nothing that takes away the plan of an instance', async () => {
      away.get('b012-apb')?.()
      shop.offered.add('b012-apb')
      await shop.push('b020-apb', { version: '1.1.0' })
      await shop.push('b021-apb', { version: '2.0.0', plans: ['other'] })
      expect(await shop.sync()).toBe('1 updated, 1 returned, 1 problem')
      expect((await shop.status())?.problems).toEqual([expect.stringMatching(/b021-apb: .*small/)])
      await shop.provision('new-b020', 'b020-apb', '1.1.0')
      await shop.expectAllWell()
      const { state } = await shop.life.upgrade('on-b020-apb', idsOf('b020-apb'), '1.1.0')
      expect(state).toBe('succeeded')
      shop.instances.set('on-b020-apb', { name: 'b020-apb', version: '1.1.0' })
      await shop.expectAllWell()
    })

    it('lives through a registry that is not there', async () => {
      await shop.front.down()
      await shop.sync()
      expect(await shop.status()).toMatchObject({ failures: 1, last_problem: expect.stringContaining('ECONNREFUSED') })
      await shop.provision('while-down', 'b040-apb')
      await shop.expectAllWell()
      await shop.deprovision('while-down')
      await shop.front.up()
    })

    it('lives through one that answers 500', async () => {
      shop.front.mood = { kind: 'broken' }
      await shop.sync()
      expect(await shop.status()).toMatchObject({ failures: 2, last_problem: expect.stringContaining('500') })
      await shop.expectAllWell()
    })

    it('lives through one that does not answer', async () => {
      shop.front.mood = { kind: 'silent' }
      shop.clock.speed = 1000
      await shop.sync()
      shop.clock.speed = 20
      expect(await shop.status()).toMatchObject({
        failures: 3,
        last_problem: expect.stringContaining('no whole reply within 30 seconds'),
      })
      await shop.expectAllWell()
    })

    it('lives through one that is cut in the middle of its list', async () => {
      shop.front.mood = { kind: 'cut', where: path => path.includes('/_catalog') && path.includes('last=') }
      await shop.sync()
      expect(await shop.status()).toMatchObject({ failures: 4, last_problem: expect.stringContaining('_catalog') })
      await shop.expectAllWell()
    })

    it('lives through one that no longer takes its password', async () => {
      shop.front.mood = { kind: 'well' }
      shop.login(false)
      await shop.sync()
      expect(await shop.status()).toMatchObject({ failures: 5, last_problem: expect.stringContaining('401') })
      await shop.expectAllWell()
      shop.login(true)
    })

    it('takes in what it can of one that is cut in the middle of an image, and retires nothing', async () => {
      const { config } = shop.pushed('b030-apb')
      shop.withdraw('b031-apb')
      await shop.push('b021-apb', { version: '2.0.0', plans: ['small', 'other'] })
      await shop.push('b032-apb', { version: '1.2.0' })
      shop.front.mood = { kind: 'cut', where: path => path.endsWith(config) }
      expect(await shop.sync()).toBe('2 updated, 1 problem')
      expect(await shop.status()).toMatchObject({
        partial: true,
        failures: 0,
        problems: [expect.stringContaining('b030-apb')],
      })
      await shop.expectAllWell()
    })

    it('is there after a restart before its registry answers', async () => {
      shop.front.mood = { kind: 'silent' }
      shop.clock.speed = 1
      await shop.stop()
      await shop.start()
      const chore = (await shop.broker.admin.chores()).body.chores?.find(({ name }) => name === 'sync')
      expect(chore?.running).toBe(true)
      await shop.expectAllWell()
      await shop.provision('after-restart', 'b050-apb')
      await shop.deprovision('on-b001-apb')
      await shop.stop()
      shop.clock.speed = 20
      shop.front.mood = { kind: 'well' }
      await shop.start()
      shop.offered.delete('b031-apb')
      expect(await shop.synced()).toBe('1 retired, 1 deleted')
      await shop.expectAllWell()
      await expectGone('b031-apb')
    })

    it('tells of a label that is not base64, and loses nothing by it', async () => {
      const broken = { 'com.redhat.apb.spec': '%%% no base64 %%%' }
      await shop.push('b060-apb', {}, broken)
      await shop.push('broken-apb', {}, broken)
      await shop.push('yaml-apb', {}, labelsOf('name: [\n'))
      await shop.sync()
      expect((await shop.status())?.problems).toEqual([
        expect.stringMatching(/b060-apb: its label com.redhat.apb.spec is not base64; build it again/),
        expect.stringMatching(/broken-apb: its label com.redhat.apb.spec is not base64; build it again/),
        expect.stringMatching(/yaml-apb: /),
      ])
      await shop.expectAllWell()
    })

    it('is empty of what was used when the last instance is gone', async () => {
      for (const id of [...shop.instances.keys()]) await shop.deprovision(id)
      expect(await shop.broker.store.revisionUses()).toEqual([])
      await vi.waitFor(async () => {
        const stored = await shop.broker.store.catalog()
        expect(stored?.revisions.length).toBe(shop.offered.size)
      }, patience)
      await shop.expectAllWell()
    })
  },
)

/** What is retired is deleted a moment after the last deprovision has ended. */
async function expectGone(name: string): Promise<void> {
  await vi.waitFor(async () => {
    const stored = await shop.broker.store.catalog()
    expect(stored?.services.filter(({ serviceId }) => serviceId === idsOf(name).service_id)).toEqual([])
    expect(stored?.revisions.filter(({ fullName }) => fullName === `team-${name}`)).toEqual([])
  }, patience)
}
