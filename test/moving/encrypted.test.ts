import { describe, expect, it } from 'vitest'
import { createMemoryStore } from '../../src/store/memory/index.ts'
import type { Keyring, Store } from '../../src/store.ts'
import { canary, fillWithCanaries, shown } from '../store/encrypted-ledger.ts'
import { testKeyring } from '../store/test-keyring.ts'
import { exported, imported } from './rich-ledger.ts'

async function filled(keyring?: Keyring): Promise<Store> {
  const store = createMemoryStore({ keyring })
  await fillWithCanaries(store)
  return store
}

describe('an export of an encrypted ledger', () => {
  it('holds no secret, and is imported with its key', async () => {
    const store = await filled(testKeyring('2026-a'))
    const text = await exported(store)
    expect(text).not.toContain(canary)
    expect(await exported(await filled())).toContain(canary)
    expect(JSON.parse(text.slice(0, text.indexOf('\n'))).header).toMatchObject({ secrets: true, key: '2026-a' })
    // The other ledger has a key of its own.
    const target = createMemoryStore({ keyring: testKeyring('2027', '2026-a') })
    await imported(target, text)
    expect(await shown(target)).toEqual(await shown(store))
  })

  it('names the key that is missing, and changes nothing', async () => {
    const text = await exported(await filled(testKeyring('2026-a')))
    const target = createMemoryStore({ keyring: testKeyring('2027') })
    await expect(imported(target, text)).rejects.toThrow('encrypted with the key "2026-a", which is not configured')
    expect(await target.moving?.importState()).toEqual({ empty: true, progress: undefined })
  })

  it('leaves secrets out where nobody asks for them, as before', async () => {
    const text = await exported(await filled(testKeyring('2026-a')), false)
    expect(text).not.toContain('"sealed"')
    expect(text).not.toContain('"parameters"')
  })
})
