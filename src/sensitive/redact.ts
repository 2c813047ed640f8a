import { findParts } from './find-parts.ts'

/** Shorter ones are in every text by chance: cutting them out would leave nothing readable and hide nothing. */
const shortest = 4

/**
 * Cuts secrets out of a text, as they are and as JSON, base64, URLs and forms spell them, also within the base64 of a longer text.
 * What overlaps is cut out as one.
 */
export function createRedactor(secrets: readonly string[]): (text: string) => string {
  const parts = partsOf(secrets)
  return text => {
    if (parts.length === 0) return text
    const bytes = Buffer.from(text)
    const spans = findParts(bytes, parts)
    const between = spans.map(({ from }, index) => bytes.toString('utf8', spans[index - 1]?.to ?? 0, from))
    return [...between, bytes.toString('utf8', spans.at(-1)?.to ?? 0)].join('[redacted]')
  }
}

/** Everything to be cut out. The same list is asked for again with each look at a sandbox. */
function partsOf(secrets: readonly string[]): readonly Uint8Array[] {
  const known = partsByList.get(secrets)
  if (known !== undefined) return known
  const spellings = new Set(secrets.filter(secret => secret.length >= shortest).flatMap(spellingsOf))
  const parts = Array.from(spellings, spelling => Buffer.from(spelling))
  partsByList.set(secrets, parts)
  return parts
}

const partsByList = new WeakMap<readonly string[], readonly Uint8Array[]>()

function spellingsOf(secret: string): string[] {
  const lines = secret.split(/\r?\n/).filter(line => line.length >= shortest)
  const bytes = Buffer.from(secret)
  const inJson = JSON.stringify(secret).slice(1, -1)
  const padded = bytes.toString('base64')
  const inBase64 = [padded, padded.replace(/=+$/, ''), ...[0, 1, 2].map(before => withinBase64(secret, before))]
  const spellings = [secret, ...lines, inJson, escapeSpaces(inJson), ...inBase64, ...inBase64.map(toUrlAlphabet)]
  // In URLs most are as they are.
  if (/^[\w.-]*$/.test(secret)) return spellings
  // Read back from its bytes, in which half characters are replaced: those cannot be encoded.
  const text = bytes.toString()
  return [...spellings, encodeURIComponent(text), new URLSearchParams([['', text]]).toString().slice(1)]
}

/** The characters that stand for nothing else, in the base64 of a text with so many bytes before it. */
function withinBase64(secret: string, before: number): string {
  const bytes = Buffer.from(`${'-'.repeat(before)}${secret}`)
  return bytes.toString('base64').slice(Math.ceil((before * 8) / 6), Math.floor((bytes.length * 8) / 6))
}

function toUrlAlphabet(base64: string): string {
  return /[+/]/.test(base64) ? base64.replaceAll('+', '-').replaceAll('/', '_') : base64
}

/** Entry points print JSON without quotes, and a shell makes one space of several: JSON that they get has none. */
export function escapeSpaces(json: string): string {
  return json.replaceAll(' ', '\\u0020')
}
