import { describe, expect, it } from 'vitest'
import { createLedgerId } from '../../src/broker/ledger-id.ts'
import { exported, imported } from '../moving/rich-ledger.ts'
import { describeStores } from '../moving/stores.ts'

describe('the id of a ledger', () => {
  describeStores('in', newStore => {
    it('is one for all replicas, and another one for another ledger of the same kind', async () => {
      const store = await newStore()
      const ids = await Promise.all([1, 2, 3].map(() => createLedgerId(store)()))
      expect(new Set(ids).size).toBe(1)
      expect(await createLedgerId(await newStore())()).not.toBe(ids[0])
    })

    it('goes where the ledger goes', async () => {
      const store = await newStore()
      const id = await createLedgerId(store)()
      const target = await newStore()
      await imported(target, await exported(store))
      expect(await createLedgerId(target)()).toBe(id)
    })

    it('is read again where the store did not answer', async () => {
      const store = await newStore()
      let asked = 0
      const find = createLedgerId({
        ...store,
        note: (...args) => (++asked === 1 ? Promise.reject(new Error('silent')) : store.note(...args)),
      })
      await expect(find()).rejects.toThrow('silent')
      expect(await find()).toBe(await createLedgerId(store)())
    })
  })
})
