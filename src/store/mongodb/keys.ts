import { createHash } from 'node:crypto'

/**
 * What a document is found by. Ids come from platforms, of any length and with any characters: the digest is short, and
 * as JSON no two lists of ids read alike.
 */
export function keyOf(...ids: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(ids)).digest('base64url')
}
