import { hkdfSync, scrypt } from 'node:crypto'
import { revealed, type Sensitive } from '../sensitive/sensitive.ts'

/** The secret of the configuration that a user logs in with. */
export interface PasswordSecret {
  readonly username: string
  readonly password?: string | Sensitive<string> | undefined
  readonly passwordHash?: string | Sensitive<string> | undefined
}

/**
 * A text that stands for the password which is configured, and that nobody can guess it from: a session keeps it, and is over
 * when it has changed. From a hash, which nobody can guess, at once; from a password by as much work as a hash of it takes.
 */
export async function toPasswordProof({ username, password, passwordHash }: PasswordSecret): Promise<string> {
  const about = `purser session ${username}`
  if (passwordHash !== undefined)
    return Buffer.from(hkdfSync('sha256', revealed(passwordHash), '', about, 32)).toString('base64url')
  return new Promise((resolve, reject) => {
    const work = { cost: 2 ** 15, blockSize: 8, maxmem: 2 ** 26 }
    scrypt(revealed(password) ?? '', about, 32, work, (error, key) =>
      error ? reject(error) : resolve(key.toString('base64url')),
    )
  })
}
