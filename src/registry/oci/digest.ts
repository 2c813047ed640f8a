import { createHash } from 'node:crypto'
import { RegistryError } from '../registry-error.ts'

const lengths: Readonly<Record<string, number>> = { sha256: 64, sha512: 128 }

/** Whether it is a digest of a kind that can be checked here. */
export function isDigest(text: unknown): text is string {
  if (typeof text !== 'string') return false
  const [, algorithm = '', hex = ''] = /^([a-z0-9]+):([a-f0-9]+)$/.exec(text) ?? []
  return Object.hasOwn(lengths, algorithm) && lengths[algorithm] === hex.length
}

/** Throws where the bytes are not those that the digest is of. */
export function checkDigest(bytes: Uint8Array, digest: string, what: string): void {
  const [algorithm = ''] = digest.split(':')
  if (!isDigest(digest) || digestOf(bytes, algorithm) !== digest)
    throw new RegistryError(`${what} does not have the digest that it should have; push the image again`)
}

export function digestOf(bytes: Uint8Array, algorithm = 'sha256'): string {
  return `${algorithm}:${createHash(algorithm).update(bytes).digest('hex')}`
}
