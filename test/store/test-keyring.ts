import { createHash } from 'node:crypto'
import type { Keyring } from '../../src/sealing.ts'
import { createKeyring, type LabelledKey } from '../../src/store/keyring.ts'

/** A key of this label: the same one for each test that names it. */
export function testKey(label: string): LabelledKey {
  return { label, key: createHash('sha256').update(`a key for tests: ${label}`).digest() }
}

/** New values are sealed with the first one. */
export function testKeyring(...labels: readonly string[]): Keyring {
  return createKeyring(labels.map(testKey))
}
