import { createRedactor } from '../sensitive/redact.ts'

/** How much of a log is kept. */
export const tailBytes = 64 * 1024

/**
 * The end of a log, bounded and without secrets. `cut` says that the text begins somewhere in the middle: its first
 * characters may be the rest of a secret, which nobody could recognise, and are left out.
 */
export function tailOf(text: string, cut: boolean, secrets: readonly string[]): string {
  const longest = secrets.reduce((most, secret) => Math.max(most, JSON.stringify(secret).length * 6), 0)
  const safe = createRedactor(secrets)(text).slice(cut ? longest : 0)
  const bytes = Buffer.from(safe)
  return bytes.length <= tailBytes ? safe : bytes.subarray(bytes.length - tailBytes).toString()
}
