import { expect, it } from 'vitest'
import { createMemoryStore } from '../../src/store/memory/index.ts'
import { exported, imported } from '../moving/rich-ledger.ts'
import { describeStores, newMemory } from '../moving/stores.ts'
import { testKeyring } from '../store/test-keyring.ts'
import { linkAll, verify, write } from './tampered-ledger.ts'

const line = (message: string) => ({ at: 1, type: 'healed', instanceId: 'i', message }) as const

describeStores('the chain of the history moves', newStore => {
  it('with its links, and goes on in the other store', async () => {
    const from = await newStore()
    await write(from, ...['one', 'two', 'three'].map(line))
    await linkAll(from)
    const { head } = (await verify(from)).status
    await write(from, line('four'))
    const to = await newMemory()
    await imported(to, await exported(from))
    expect(await verify(to, head)).toMatchObject({ lines: 3, fault: undefined, status: { unlinked: 1 } })
    await linkAll(to)
    const back = await newStore()
    await imported(back, await exported(to))
    await write(back, line('five'))
    await linkAll(back)
    expect(await verify(back, head)).toMatchObject({ lines: 5, fault: undefined })
  })
})

it('its end is proven with the key of the other ledger, unless it was wrong', async () => {
  const from = createMemoryStore({ keyring: testKeyring('2026-a') })
  await write(from, line('one'))
  await linkAll(from)
  const text = await exported(from)
  const to = createMemoryStore({ keyring: testKeyring('2026-b', '2026-a') })
  await imported(to, text)
  expect(await verify(to)).toMatchObject({ lines: 1, fault: undefined, status: { proof: 'proven', key: '2026-b' } })
  const note = await from.note('history-chain', 'ends')
  const forged = { anchor: { no: 0, hash: '0' }, head: { no: 9, hash: '9' }, proof: note?.doc.proof }
  await from.writeNotes([{ kind: 'history-chain', id: 'ends', version: 1, doc: JSON.parse(JSON.stringify(forged)) }])
  const other = createMemoryStore({ keyring: testKeyring('2026-a') })
  await expect(imported(other, await exported(from))).rejects.toThrow('was not written by a broker with the key')
})
