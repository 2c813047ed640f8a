import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { type Authenticator, isRefusal, type Principal, type Refusal, type Role } from '../authenticator.ts'
import { createLimiter } from './limiter.ts'
import { type PasswordHash, parsePasswordHash, verifyPassword } from './password.ts'

/** A user who may log in, with `password` or `passwordHash`. During a rotation the previous hash is accepted too. */
export interface BasicUser {
  readonly username: string
  readonly password?: string
  readonly passwordHash?: string
  readonly previousPasswordHash?: string
  readonly platform: string
  readonly roles: readonly Role[]
}

/**
 * HTTP basic authentication (RFC 7617, UTF-8). A wrong username takes as long as a wrong password. A flood of logins cannot
 * use up the machine: few hashes are computed at a time, some wait, and the rest is refused.
 *
 * A header that was right once is remembered and recognised as it is, so that the requests of a platform cost next to
 * nothing and are never refused. This tells an attacker nothing by its timing: a map looks for its key by a hash that is
 * seeded in each process, and compares the texts only where that is equal.
 */
export function createBasicAuthenticator(users: readonly BasicUser[]): Authenticator {
  checkUsers(users)
  const accounts = new Map(users.map(user => [user.username, toAccount(user)]))
  const hashesPerAttempt = Math.max(0, ...[...accounts.values()].map(account => account.hashes.length))
  const decoys = makeDecoys([...accounts.values()], hashesPerAttempt)
  const limiter = createLimiter({ running: 2, waiting: 64 })
  const known = new Map<string, Principal>()
  const attempts = new Map<string, Promise<Principal | Refusal>>()

  async function attempt(authorization: string): Promise<Principal | Refusal> {
    const login = decode(authorization)
    if (login === undefined) return malformed
    const account = accounts.get(login.username)
    const plain = timingSafeEqual(digest(login.password), account?.passwordDigest ?? noDigest)
    if (plain) return account?.principal ?? wrong
    const hashes = [...(account?.hashes ?? []), ...decoys].slice(0, hashesPerAttempt)
    const found = hashes.length > 0 && (await limiter.run(() => matches(login.password, hashes)))
    if (found === undefined) return tooMany
    return (found && account?.principal) || wrong
  }

  function remember(authorization: string, principal: Principal): void {
    const oldest = known.size >= rememberedLogins ? known.keys().next().value : undefined
    if (oldest !== undefined) known.delete(oldest)
    known.set(authorization, principal)
  }

  return {
    scheme: 'basic',
    challenge: 'Basic realm="purser", charset="UTF-8"',
    authenticate({ headers: { authorization } }) {
      if (authorization === undefined) return undefined
      const principal = known.get(authorization)
      if (principal !== undefined) return principal
      if (!/^basic( |$)/i.test(authorization)) return undefined
      return authorization.length > longestHeader ? malformed : tryOnce(authorization)
    },
  }

  /** The same header from many connections at once (a platform that has just started) is one attempt. */
  function tryOnce(authorization: string): Promise<Principal | Refusal> {
    const running = attempts.get(authorization)
    if (running !== undefined) return running
    const started = attempt(authorization)
      .then(found => {
        if (!isRefusal(found)) remember(authorization, found)
        return found
      })
      .finally(() => attempts.delete(authorization))
    attempts.set(authorization, started)
    return started
  }
}

const wrong: Refusal = { refused: 'wrong username or password' }
const malformed: Refusal = { refused: 'the Authorization header is malformed' }
const tooMany: Refusal = { refused: 'too many logins at the same time' }

const rememberedLogins = 1000
const longestHeader = 4096
/** The digest of nothing that anybody could send. */
const noDigest = randomBytes(32)

/** Where the caller's code has no types. Shows nothing of a user: a password may stand in it. */
function checkUsers(users: readonly BasicUser[]): void {
  const form = 'write [{ username, password or passwordHash, platform, roles }]'
  if (!Array.isArray(users) || users.length === 0)
    throw new TypeError(`createBasicAuthenticator needs a list with at least one user: ${form}`)
  users.forEach((user: Partial<BasicUser> | undefined, index) => {
    const texts = [user?.username, user?.password ?? user?.passwordHash, user?.platform]
    if (texts.every(text => typeof text === 'string') && Array.isArray(user?.roles)) return
    throw new TypeError(`createBasicAuthenticator: user ${index + 1} of the list is not complete: ${form}`)
  })
}

interface Account {
  readonly principal: Principal
  readonly passwordDigest: Buffer | undefined
  readonly hashes: readonly PasswordHash[]
}

function toAccount(user: BasicUser): Account {
  const hashes = [user.passwordHash, user.previousPasswordHash].filter(text => text !== undefined)
  return {
    principal: Object.freeze({ name: user.username, platform: user.platform, roles: user.roles }),
    passwordDigest: user.password === undefined ? undefined : digest(user.password.normalize('NFC')),
    hashes: hashes.map(parsePasswordHash),
  }
}

/** Hashes that no password fits, as costly as the real ones: they fill up an attempt that has fewer of its own. */
function makeDecoys(accounts: readonly Account[], count: number): readonly PasswordHash[] {
  const model = accounts.flatMap(account => account.hashes)[0]
  if (model === undefined) return []
  return Array.from({ length: count }, () => ({ ...model, salt: randomBytes(16), hash: randomBytes(32) }))
}

async function matches(password: string, hashes: readonly PasswordHash[]): Promise<boolean> {
  for (const hash of hashes) if (await verifyPassword(password, hash)) return true
  return false
}

/** The user ends at the first colon; a password may hold more of them. */
function decode(authorization: string): { username: string; password: string } | undefined {
  const encoded = /^basic +([A-Za-z0-9+/_-]+={0,2}) *$/i.exec(authorization)?.[1]
  if (encoded === undefined) return undefined
  const text = Buffer.from(encoded, 'base64').toString('utf8')
  const colon = text.indexOf(':')
  if (colon < 0) return undefined
  return { username: text.slice(0, colon), password: text.slice(colon + 1).normalize('NFC') }
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
