import { expect, it } from 'vitest'
import type { Keyring, SealedPlace } from '../sealing.ts'
import { createKeyring } from './keyring.ts'
import { createSealer } from './sealing.ts'

const place = (n: number): SealedPlace => ['instance', 'sealed', `i-${n}`]

/** Counts what is really sealed and opened. */
function createCounting() {
  const keyring = createKeyring([{ label: 'one', key: new Uint8Array(32) }])
  const count = { seals: 0, opens: 0 }
  const counting: Keyring = {
    ...keyring,
    seal(text, where) {
      count.seals++
      return keyring.seal(text, where)
    },
    unseal(sealed, where) {
      count.opens++
      return keyring.unseal(sealed, where)
    },
  }
  return { sealer: createSealer(counting), count }
}

it('what was sealed here is neither sealed again nor opened, as long as it is remembered', () => {
  const { sealer, count } = createCounting()
  const sealed = Array.from({ length: 2_000 }, (_, n) => sealer.seal({ n }, place(n)))
  for (const [n, text] of sealed.entries()) {
    expect(sealer.seal({ n }, place(n))).toBe(text)
    expect(sealer.unseal(text, place(n))).toEqual({ n })
  }
  expect(count).toEqual({ seals: 2_000, opens: 0 })
})

it('what is remembered has a limit', () => {
  const { sealer, count } = createCounting()
  const first = sealer.seal('first', place(0))
  for (let n = 1; n <= 4_000; n++) sealer.seal('other', place(n))
  expect(sealer.unseal(first, place(0))).toBe('first')
  expect(count).toEqual({ seals: 4_001, opens: 1 })
})

it('a long value is not remembered, nor what stood in its place before', () => {
  const { sealer, count } = createCounting()
  const long = 'x'.repeat(2_001)
  sealer.seal('short', place(0))
  const sealed = sealer.seal(long, place(0))
  expect(sealer.unseal(sealed, place(0))).toBe(long)
  expect(count).toEqual({ seals: 2, opens: 1 })
})
