import type { CST } from 'yaml'
import { deepestJson } from './json.ts'
import type { Mistake } from './mistake.ts'
import type { Place } from './place.ts'

/** A mistake that keeps a source from being read. It never shows the text: that may be a password. */
export class FaultError extends Error {
  override readonly name = 'FaultError'
  readonly fault: Mistake

  constructor(fault: Omit<Mistake, 'path'> & Partial<Mistake>) {
    super(fault.problem)
    this.fault = { path: [], ...fault }
  }
}

export type Spend = (depth: number, at: () => Partial<Mistake>) => void

/** Counts values as aliases are unfolded, so that a short text cannot become a long walk. */
export function createBudget(maxValues: number): Spend {
  const tooMany = { problem: `it unfolds to more than ${maxValues} values`, remedy: 'use fewer aliases' }
  let count = 0
  return (depth, at) => {
    if (++count > maxValues) throw new FaultError({ ...at(), ...tooMany })
    if (depth > deepestJson) throw new FaultError({ ...at(), ...tooDeep })
  }
}

const tooDeep = { problem: `it is nested more than ${deepestJson} levels deep`, remedy: 'make it flatter' }

const usualStart = 10

/**
 * Refuses what is nested too deep, or has too much in it. For between the two halves of the YAML parser: the first one keeps a
 * list, but the second one calls itself. Where its stack runs out inside a regular expression, the whole process ends, which
 * nobody can catch; 60,000 dashes in a row are enough. And it takes long for each mistake: a megabyte of commas is a million.
 */
export function checkTokens(tokens: readonly CST.Token[], maxValues: number, placeAt: (offset: number) => Place): void {
  const open: [token: CST.Token, depth: number][] = tokens.map(token => [token, 0])
  let count = 0
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [token, depth] = next
    if (depth > deepestJson) throw new FaultError({ place: placeAt(token.offset), ...tooDeep })
    if (token.type === 'document') {
      count += 1
      if (token.value !== undefined) open.push([token.value, depth])
    }
    for (const { start, key, value } of 'items' in token ? token.items : []) {
      // Commas in a row are all before one item; usually there are some spaces and line ends.
      count += 1 + Math.max(0, start.length - usualStart)
      if (key) open.push([key, depth + 1])
      if (value) open.push([value, depth + 1])
    }
    if (count > maxValues)
      throw new FaultError({
        place: placeAt(token.offset),
        problem: `it has more than ${maxValues} values`,
        remedy: 'make it shorter',
      })
  }
}
