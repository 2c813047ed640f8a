/** Secrets that can be found again: one for each place where a secret can come from. */
import { randomBytes } from 'node:crypto'
import { expect } from 'vitest'

export interface Canaries<Place extends string> {
  readonly of: Readonly<Record<Place, string>>
  /** The places whose secret is in the text, as it is or as others spell it. */
  foundIn(text: string): readonly Place[]
}

export function createCanaries<const Place extends string>(places: readonly Place[]): Canaries<Place> {
  const run = randomBytes(4).toString('hex')
  const of = Object.fromEntries(places.map(place => [place, `canary-${place}-${run}`])) as Record<Place, string>
  const spellings = places.map(place => [place, spellingsOf(of[place])] as const)
  return {
    of,
    foundIn: text => spellings.flatMap(([place, spelled]) => (spelled.some(one => text.includes(one)) ? [place] : [])),
  }
}

function spellingsOf(secret: string): readonly string[] {
  const bytes = Buffer.from(secret)
  return [secret, secret.toUpperCase(), bytes.toString('base64').replace(/=+$/, ''), bytes.toString('hex')]
}

/** What was seen, by where it was seen. */
export type Seen = Map<string, string[]>

export function note(seen: Seen, where: string, text: string): void {
  const texts = seen.get(where) ?? []
  seen.set(where, texts)
  texts.push(text)
}

/** Where a secret was seen that has no business there. `allowed` says which places may be seen where. */
export function expectHidden<Place extends string>(
  canaries: Canaries<Place>,
  seen: Seen,
  allowed: Readonly<Record<string, readonly Place[]>> = {},
): void {
  const leaks = [...seen].flatMap(([where, texts]) =>
    texts.flatMap(text =>
      canaries
        .foundIn(text)
        .filter(place => !allowed[where]?.includes(place))
        .map(place => `${place} in ${where}: ${around(text, canaries.of[place])}`),
    ),
  )
  expect(leaks).toEqual([])
}

function around(text: string, secret: string): string {
  const at = text.indexOf(secret)
  return at < 0 ? '(spelled otherwise)' : text.slice(Math.max(0, at - 120), at + secret.length + 20)
}
