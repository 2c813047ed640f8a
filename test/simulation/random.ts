/** Random numbers that a seed decides. Everything that happens by chance in a simulated world comes from here. */
export interface Random {
  /** Uniform in [0, 1). */
  next(): number
  /** A whole number, both ends included. */
  between(min: number, max: number): number
  chance(probability: number): boolean
  pick<T>(choices: readonly [T, ...T[]]): T
  /** One of the keys, each as often as its weight says. */
  weighted<K extends string>(weights: Readonly<Record<K, number>>): K
  /** Another stream, which what is drawn here does not disturb. */
  fork(): Random
}

export function createRandom(seed: number): Random {
  let state = mix(seed)

  /** A Weyl sequence through a mixer: one 32 bit word of state, and every seed starts somewhere else. */
  function word(): number {
    state = (state + 0x9e37_79b9) >>> 0
    return mix(state)
  }

  const random: Random = {
    next: () => word() / 2 ** 32,
    between: (min, max) => min + Math.floor(random.next() * (max - min + 1)),
    chance: probability => random.next() < probability,
    pick: choices => choices[random.between(0, choices.length - 1)] ?? choices[0],
    weighted<K extends string>(weights: Readonly<Record<K, number>>) {
      const entries = Object.entries<number>(weights) as [K, number][]
      let left = random.next() * entries.reduce((sum, [, weight]) => sum + weight, 0)
      for (const [key, weight] of entries) {
        left -= weight
        if (left < 0) return key
      }
      throw new Error('there is nothing to choose from: every weight is 0')
    },
    fork: () => createRandom(word()),
  }
  return random
}

/** Spreads a word over all its bits: neighbours become strangers. */
function mix(word: number): number {
  let mixed = word >>> 0
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x21f0_aaad)
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a_2d97)
  return (mixed ^ (mixed >>> 15)) >>> 0
}
