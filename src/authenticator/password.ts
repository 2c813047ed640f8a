import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto'

/** `scrypt$N$r$p$salt$hash`: the text says how it was made, so that the cost can rise without breaking old hashes. */
export interface PasswordHash {
  readonly cost: number
  readonly blockSize: number
  readonly parallelization: number
  readonly salt: Uint8Array
  readonly hash: Uint8Array
}

/** RFC 7617, 2: no client may send one. To scrypt, a text with NULs at its end is the same as without them. */
export function hasControls(text: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what it looks for
  return /[\0-\x1f\x7f]/.test(text)
}

/** A new hash of the password, with a salt of its own. */
export async function hashPassword(password: string): Promise<string> {
  if (hasControls(password)) throw new TypeError('a password must not hold control characters, such as a line end')
  const made = { cost: 2 ** 15, blockSize: 8, parallelization: 1, salt: randomBytes(16) }
  const hash = await derive(password, made, 32)
  const { cost, blockSize, parallelization, salt } = made
  return ['scrypt', cost, blockSize, parallelization, salt.toString('base64url'), hash.toString('base64url')].join('$')
}

/** Whether the password made this hash. Takes as long for a wrong password as for the right one. */
export async function verifyPassword(password: string, stored: PasswordHash): Promise<boolean> {
  return timingSafeEqual(await derive(password, stored, stored.hash.length), stored.hash)
}

/** Throws where the hash cannot be used. */
export function parsePasswordHash(text: string): PasswordHash {
  const parsed = readPasswordHash(text)
  if (typeof parsed === 'string') throw new Error(`the password hash cannot be used: ${parsed}`)
  return parsed
}

const longestMemory = 256 * 1024 * 1024

/** The hash, or what is wrong with its text. Never repeats the text itself. */
export function readPasswordHash(text: string): PasswordHash | string {
  const [scheme, cost, blockSize, parallelization, salt, hash, ...rest] = text.split('$')
  if (scheme !== 'scrypt') return 'it does not begin with scrypt$'
  if (salt === undefined || hash === undefined || rest.length > 0) return 'it is not scrypt$N$r$p$salt$hash'
  const parsed = {
    cost: toCount(cost),
    blockSize: toCount(blockSize),
    parallelization: toCount(parallelization),
    salt: Buffer.from(salt, 'base64url'),
    hash: Buffer.from(hash, 'base64url'),
  }
  if (!Number.isInteger(Math.log2(parsed.cost)) || parsed.cost < 2 ** 10 || parsed.cost > 2 ** 20)
    return 'its N is not a power of two from 2^10 to 2^20'
  if (parsed.blockSize < 1 || parsed.blockSize > 32) return 'its r is not a whole number from 1 to 32'
  if (parsed.parallelization < 1 || parsed.parallelization > 16) return 'its p is not a whole number from 1 to 16'
  if (memory(parsed) > longestMemory) return 'its N and r need more than 256 MB of memory for each login'
  if (!isBase64url(salt, parsed.salt, 8)) return 'its salt is not base64url of at least 8 bytes'
  if (!isBase64url(hash, parsed.hash, 16)) return 'its hash is not base64url of at least 16 bytes'
  return parsed
}

/** 0, which no limit allows, for anything but plain decimal digits. */
function toCount(text: string | undefined): number {
  return text !== undefined && /^[1-9]\d{0,7}$/.test(text) ? Number(text) : 0
}

function isBase64url(text: string, bytes: Buffer, shortest: number): boolean {
  return bytes.length >= shortest && bytes.length <= 64 && bytes.toString('base64url') === text
}

/** What computing it takes, in no unit: it is for comparing. */
export function workOf({ cost, blockSize, parallelization }: PasswordHash): number {
  return cost * blockSize * parallelization
}

function memory({ cost, blockSize }: Pick<PasswordHash, 'cost' | 'blockSize'>): number {
  return 128 * cost * blockSize
}

function derive(password: string, how: Omit<PasswordHash, 'hash'>, length: number): Promise<Buffer> {
  const { cost, blockSize, parallelization } = how
  const options: ScryptOptions = { cost, blockSize, parallelization, maxmem: 2 * memory(how) + 1024 * 1024 }
  return new Promise((resolve, reject) => {
    scrypt(password.normalize('NFC'), how.salt, length, options, (error, key) => (error ? reject(error) : resolve(key)))
  })
}
