import { hkdfSync, scrypt } from 'node:crypto'

/** One secret of the configuration that a user logs in with. */
export type PasswordSecret = { readonly password: string } | { readonly passwordHash: string }

/**
 * A text that stands for the password which is configured, and that nobody can guess it from: a session keeps it, and is over
 * when it has changed. From a hash, which nobody can guess, at once; from a password by as much work as a hash of it takes.
 */
export async function toPasswordProof(username: string, secret: PasswordSecret): Promise<string> {
  const about = `purser session ${username}`
  if ('passwordHash' in secret)
    return Buffer.from(hkdfSync('sha256', secret.passwordHash, '', about, 32)).toString('base64url')
  return new Promise((resolve, reject) => {
    const work = { cost: 2 ** 15, blockSize: 8, maxmem: 2 ** 26 }
    scrypt(secret.password, about, 32, work, (error, key) =>
      error ? reject(error) : resolve(key.toString('base64url')),
    )
  })
}
