import { type CipherGCM, createCipheriv, type KeyObject, randomBytes } from 'node:crypto'

export const algorithm = 'aes-256-gcm'
/** Bytes. */
export const nonceLength = 12

/** A cipher that has encrypted nothing yet. Nobody else has it. */
export interface FreshCipher {
  readonly nonce: Uint8Array
  readonly cipher: CipherGCM
}

/**
 * Ciphers of one key, each with a random nonce of its own, given out once. They are made some at a time: one that is made right
 * after another costs about half of one that is made between other work. None is made before the first is wanted.
 */
export function createFreshCiphers(key: KeyObject): () => FreshCipher {
  const fresh: FreshCipher[] = []

  function makeMore(): FreshCipher {
    const nonces = randomBytes(madeAtOnce * nonceLength)
    const make = (n: number): FreshCipher => {
      const nonce = nonces.subarray(n * nonceLength, (n + 1) * nonceLength)
      return { nonce, cipher: createCipheriv(algorithm, key, nonce) }
    }
    for (let n = 1; n < madeAtOnce; n += 1) fresh.push(make(n))
    return make(0)
  }

  return () => fresh.pop() ?? makeMore()
}

/** More of them would bring little: it is the first one that is dear. */
const madeAtOnce = 16
