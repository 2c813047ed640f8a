import { describe, expect, it } from 'vitest'
import { makeDecoys } from './decoys.ts'
import { type PasswordHash, workOf } from './password.ts'

describe('makeDecoys', () => {
  it.each([
    ['one cost', [[15]], []],
    ['a cheap first one', [[12], [15]], []],
    ['a rotation', [[15], [14, 15], [12]], [10]],
    ['many', [[16], [10, 10], [11, 13]], [12, 12]],
  ])('makes every user as dear as the dearest, who is nobody too: %s', (_, costs, other) => {
    const all = costs.map(hashes)
    const dearest = Math.max(...all.map(sum))
    for (const own of [[], hashes(other), ...all]) expect(sum([...own, ...makeDecoys(own, all)])).toBe(dearest)
  })

  it('takes p and r into account', () => {
    const dear = { ...hashOf(14), parallelization: 4 }
    const cheap = hashOf(15)
    expect(sum(makeDecoys([], [[cheap], [dear]]))).toBe(workOf(dear))
    expect(sum([cheap, ...makeDecoys([cheap], [[cheap], [dear]])])).toBe(workOf(dear))
  })

  it('has none where nobody has a hash', () => {
    expect(makeDecoys([], [[], []])).toEqual([])
  })

  it('fits no password and is like no other', () => {
    const [first, second] = [makeDecoys([], [hashes([12])]), makeDecoys([], [hashes([12])])]
    expect(first[0]?.hash).not.toEqual(second[0]?.hash)
    expect(first[0]?.salt).not.toEqual(second[0]?.salt)
  })
})

function hashOf(power: number): PasswordHash {
  return { cost: 2 ** power, blockSize: 8, parallelization: 1, salt: new Uint8Array(16), hash: new Uint8Array(32) }
}

function hashes(powers: readonly number[]): readonly PasswordHash[] {
  return powers.map(hashOf)
}

function sum(list: readonly PasswordHash[]): number {
  return list.reduce((total, hash) => total + workOf(hash), 0)
}
