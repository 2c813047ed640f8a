import { expect, it } from 'vitest'
import { createKeyring } from './keyring.ts'

const key = { label: 'k', key: new Uint8Array(32).fill(7) }

it('seals each of many values with a nonce of its own, and opens all of them', () => {
  const keyring = createKeyring([key])
  const texts = Array.from({ length: 1_000 }, (_, n) => `{"n":${n},"text":"${'ä'.repeat(n % 50)}"}`)
  const sealed = texts.map((text, n) => keyring.seal(text, ['step', 'sealed', 'o', String(n)]))
  const nonces = sealed.map(text => text.slice('e1:k:'.length + 16, 'e1:k:'.length + 32))
  expect(new Set(nonces).size).toBe(texts.length)
  // Another process reads them, too.
  for (const { unseal } of [keyring, createKeyring([key])])
    expect(sealed.map((text, n) => unseal(text, ['step', 'sealed', 'o', String(n)]))).toEqual(texts)
})

it('seals with keys of their own after a change of the key', () => {
  const next = { label: 'next', key: new Uint8Array(32).fill(8) }
  const [before, after] = [createKeyring([key]), createKeyring([next, key])]
  const sealed = [before, after, before].map(({ seal }, n) => seal(`"${n}"`, ['note', 'doc', 'n']))
  expect(sealed.map(text => text.split(':')[1])).toEqual(['k', 'next', 'k'])
  expect(sealed.map(text => after.unseal(text, ['note', 'doc', 'n']))).toEqual(['"0"', '"1"', '"2"'])
})
