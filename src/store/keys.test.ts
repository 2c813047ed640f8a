import { describe, expect, it } from 'vitest'
import { keyOf } from './keys.ts'

describe('keyOf', () => {
  it('leaves the ids that platforms use as they are', () => {
    for (const id of ['8b1ea2f6-2f6b-4f0e-9d64-3c8d5d1b3a11', 'a b', 'a/b%2F"\'\\', 'x'.repeat(250)])
      expect(keyOf(id)).toBe(id)
  })

  it('gives every other id a short key of its own', () => {
    const long = Array.from({ length: 10_000 }, (_, index) => String.fromCodePoint(0x4e00 + ((index * 7919) % 20_000)))
    const ids = ['', 'é', 'e\u0301', 'a\u0000', 'a\u0000b', '\ud800', '\ud801', 'a\n', 'x'.repeat(251), long.join('')]
    const keys = ids.map(keyOf)
    expect(new Set(keys).size).toBe(ids.length)
    for (const key of keys) expect(key).toMatch(/^#[\w-]{43}$/)
  })

  it('takes no id for the hash of another', () => {
    const hash = keyOf('é')
    expect(keyOf(hash)).not.toBe(hash)
  })
})
