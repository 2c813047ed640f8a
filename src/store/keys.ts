import { createHash } from 'node:crypto'

/**
 * What stands in an indexed column for an id or a name. PostgreSQL's indexes take no more than 2,700 bytes and its text no
 * NUL, and ids come from outside: a short one of plain characters is its own key, any other is known by its hash. The real
 * id stands in the row's document.
 */
export function keyOf(id: string): string {
  return plain.test(id) ? id : `#${createHash('sha256').update(id, 'utf16le').digest('base64url')}`
}

/** None begins as a hash does, so no id can pass for another one's hash. */
const plain = /^(?!#)[ -~]{1,250}$/
