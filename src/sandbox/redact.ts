/** Shorter ones are in every text by chance: cutting them out would leave nothing readable and hide nothing. */
const shortest = 4

/** Cuts secrets out of a text, as they are and as JSON, base64 and URLs spell them. */
export function createRedactor(secrets: readonly string[]): (text: string) => string {
  const spellings = new Set(secrets.filter(secret => secret.length >= shortest).flatMap(spellingsOf))
  // The longest first: one secret may be the beginning of another.
  const ordered = [...spellings].sort((a, b) => b.length - a.length)
  return text => ordered.reduce((rest, spelling) => rest.replaceAll(spelling, '[redacted]'), text)
}

function spellingsOf(secret: string): string[] {
  const lines = secret.split(/\r?\n/).filter(line => line.length >= shortest)
  const bytes = Buffer.from(secret)
  // Read back from its bytes, in which half characters are replaced: those cannot be encoded.
  const inUrl = encodeURIComponent(bytes.toString())
  return [secret, ...lines, JSON.stringify(secret).slice(1, -1), bytes.toString('base64'), inUrl]
}

/** How much of a log is kept. */
export const tailBytes = 64 * 1024

/**
 * The end of a log, bounded and without secrets. `cut` says that the text begins somewhere in the middle: its first
 * characters may be the rest of a secret, which nobody could recognise, and are left out.
 */
export function tailOf(text: string, cut: boolean, secrets: readonly string[]): string {
  const longest = Math.max(0, ...secrets.map(secret => JSON.stringify(secret).length * 3))
  const safe = createRedactor(secrets)(text).slice(cut ? longest : 0)
  const bytes = Buffer.from(safe)
  return bytes.length <= tailBytes ? safe : bytes.subarray(bytes.length - tailBytes).toString()
}
