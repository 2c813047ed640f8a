import { randomBytes } from 'node:crypto'
import { type PasswordHash, workOf } from './password.ts'

/**
 * Hashes that no password fits. With them, checking `own` takes as long as checking the dearest list of all: else the time of
 * an answer would tell which users there are.
 */
export function makeDecoys(
  own: readonly PasswordHash[],
  all: readonly (readonly PasswordHash[])[],
): readonly PasswordHash[] {
  const decoys: PasswordHash[] = []
  const dearest = all
    .flat()
    .reduce<PasswordHash | undefined>((one, other) => (one && workOf(one) >= workOf(other) ? one : other), undefined)
  if (dearest === undefined) return decoys
  let missing = Math.max(...all.map(sum)) - sum(own)
  // The work grows with N, which is a power of two: so the sum of some smaller ones is what is missing.
  for (let cost = dearest.cost; cost >= leastCost; cost /= 2) {
    const work = workOf({ ...dearest, cost })
    for (; missing >= work; missing -= work)
      decoys.push({ ...dearest, cost, salt: randomBytes(16), hash: randomBytes(32) })
  }
  return decoys
}

const leastCost = 2 ** 10

function sum(hashes: readonly PasswordHash[]): number {
  return hashes.reduce((total, hash) => total + workOf(hash), 0)
}
