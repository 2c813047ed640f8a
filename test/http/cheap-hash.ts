import { randomBytes, scryptSync } from 'node:crypto'

/** As `hashPassword`, at the lowest cost that is allowed. */
export function cheapHash(password: string): string {
  const salt = randomBytes(16)
  const hash = scryptSync(password, salt, 32, { cost: 1024, blockSize: 8, parallelization: 1 })
  return `scrypt$1024$8$1$${salt.toString('base64url')}$${hash.toString('base64url')}`
}
