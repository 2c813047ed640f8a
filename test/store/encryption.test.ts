import { expect, it } from 'vitest'
import { type LedgerRow, localNotes } from '../../src/moving.ts'
import { createKeyring } from '../../src/store/keyring.ts'
import type { Keyring, Store } from '../../src/store.ts'
import { provision } from '../../src/testing/store-contract/rows.ts'
import { exported, imported, richLedger, rowsIn } from '../moving/rich-ledger.ts'
import { canary, describeEncrypted, fillWithCanaries, type Moved, shown } from './encrypted-ledger.ts'
import { testKey, testKeyring } from './test-keyring.ts'

/** Every value with the current key, as the chore does it. */
async function rotate({ sealing }: Store, max = 3): Promise<void> {
  for (let from: string | undefined, first = true; first || from !== undefined; first = false)
    from = (await sealing?.sealAgain(from, max))?.next
}

describeEncrypted('encrypted', newLedger => {
  it('holds no byte of a secret, and reads all of them', async () => {
    const [plain, ledger] = [newLedger(), newLedger()]
    const clear = await plain.open()
    await fillWithCanaries(clear)
    const expected = await shown(clear)
    await clear.close()
    // The search finds what is there.
    expect(await plain.bytes()).toContain(canary)

    const store = await ledger.open(testKeyring('2026-a'))
    await fillWithCanaries(store)
    expect(withoutTimes(await shown(store))).toEqual(withoutTimes(expected))
    expect(JSON.stringify(await shown(store))).toContain(canary)
    await store.close()
    expect(await ledger.bytes()).not.toContain(canary)
    expect(withoutTimes(await shown(await ledger.open(testKeyring('2026-a'))))).toEqual(withoutTimes(expected))
  })

  it('keeps everything as it was, whatever it is', async () => {
    const store = await newLedger().open(testKeyring('2026-a'))
    const rich = await exported(await richLedger())
    await imported(store, rich)
    const rows: string[] = []
    // The note of its key stays with the store.
    const moves = (row: LedgerRow) => !('note' in row && localNotes.includes(row.note.kind))
    await store.moving?.exportRows(async some => void rows.push(...some.filter(moves).map(row => JSON.stringify(row))))
    const lines = rows.map((row, line) => JSON.stringify({ line, ...JSON.parse(row) }))
    expect(rowsIn(['', ...lines, '', ''].join('\n'))).toEqual(rowsIn(rich))
    expect(await store.sealing?.uses()).toEqual([{ label: '2026-a', values: expect.any(Number) }])
  })

  it.each<[Moved, RegExp, (store: Store) => Promise<unknown>]>([
    ['sealed', /of the instance .* cannot be read/, store => store.instance('b')],
    ['binding', /of the binding .* cannot be read/, store => store.bindings('b')],
    ['operation', /of the operation .* cannot be read/, store => store.operation('a:provision')],
    ['step', /of the step .* cannot be read/, store => store.steps('b:provision')],
    ['history', /of the history .* cannot be read/, store => store.history('b')],
  ])('cannot be read where it was moved to another instance: %s', async (what, message, read) => {
    const ledger = newLedger()
    const store = await ledger.open(testKeyring('2026-a'))
    await fillWithCanaries(store, what === 'step' ? ['a'] : undefined)
    if (what === 'step') await provision(store, 'b')
    await store.close()
    await ledger.moveToB(what)
    const moved = await ledger.open(testKeyring('2026-a'))
    await expect(read(moved)).rejects.toThrow(message)
    expect((await moved.instance('a'))?.parameters).toEqual({ password: canary, list: [canary] })
  })

  it('names a key that is not there any more, and one that is another now', async () => {
    const ledger = newLedger()
    const store = await ledger.open(testKeyring('2026-a'))
    await fillWithCanaries(store)
    await store.close()
    const missing = /was written with the key "2026-a", which is not configured and still protects \d+ values: add it/
    await expect(ledger.open()).rejects.toMatchObject({
      failure: 'missing-key',
      message: expect.stringMatching(missing),
    })
    await expect(ledger.open(testKeyring('2026-b'))).rejects.toThrow(missing)
    const other = createKeyring([{ label: '2026-a', key: testKey('another').key }])
    await expect(ledger.open(other)).rejects.toThrow('was written with another key that was called "2026-a"')
    await (await ledger.open(testKeyring('2026-b', '2026-a'))).close()
  })

  it('reads what was written in clear, until a rotation encrypts it', async () => {
    const ledger = newLedger()
    const clear = await ledger.open()
    await fillWithCanaries(clear)
    const expected = await shown(clear)
    await clear.close()
    const store = await ledger.open(testKeyring('2026-a'))
    expect(await shown(store)).toEqual(expected)
    expect(await store.sealing?.uses()).toEqual([{ label: undefined, values: expect.any(Number) }])
    await rotate(store)
    expect(await store.sealing?.uses()).toEqual([{ label: '2026-a', values: expect.any(Number) }])
    expect(await shown(store)).toEqual(expected)
    await store.close()
    expect(await ledger.bytes()).not.toContain(canary)
  })

  it('is rotated to another key, cut off after every page while others write', async () => {
    const ledger = newLedger()
    const old = await ledger.open(testKeyring('2026-a'))
    await fillWithCanaries(old)
    await old.close()
    const both: Keyring = testKeyring('2026-b', '2026-a')
    let before: string | undefined
    for (let pages = 1; ; pages += 1) {
      const store = await ledger.open(both)
      before ??= JSON.stringify(await shown(store))
      let from: string | undefined
      for (let page = 0; page < pages; page += 1) {
        const others = page === 0 && pages < 4 ? provision(store, `beside-${pages}`) : undefined
        const [again] = await Promise.all([store.sealing?.sealAgain(from, 3), others])
        from = again?.next
        if (from === undefined) break
      }
      expect(JSON.stringify(await shown(store))).toBe(before)
      const left = (await store.sealing?.uses())?.filter(({ label }) => label !== '2026-b') ?? []
      await store.close()
      if (left.length === 0) break
      await expect(ledger.open(testKeyring('2026-b'))).rejects.toThrow('"2026-a", which is not configured')
    }
    const store = await ledger.open(testKeyring('2026-b'))
    expect(JSON.stringify(await shown(store))).toBe(before)
    expect(await store.instance('beside-1')).toBeDefined()
  })
})

function withoutTimes(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value, (key, each) => (/At$|Until$|^fence$/.test(key) ? 0 : each)))
}
