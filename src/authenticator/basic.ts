import { isUtf8 } from 'node:buffer'
import { hash, randomBytes } from 'node:crypto'
import type { Authenticator, Memory, Principal, Refusal, Role } from '../authenticator.ts'
import { type Clock, systemClock } from '../clock.ts'
import { revealed, type Sensitive } from '../sensitive/sensitive.ts'
import { makeDecoys } from './decoys.ts'
import { createLimiter } from './limiter.ts'
import { hasControls, type PasswordHash, parsePasswordHash, verifyPassword } from './password.ts'
import { type PasswordSecret, toPasswordProof } from './password-proof.ts'
import { createThrottle, networkOf, type Throttle } from './throttle.ts'

/** A user who may log in, with `password` or `passwordHash`. During a rotation the previous hash is accepted too. */
export interface BasicUser {
  readonly username: string
  readonly password?: string | Sensitive<string>
  readonly passwordHash?: string | Sensitive<string>
  readonly previousPasswordHash?: string | Sensitive<string>
  readonly platform: string
  readonly roles: readonly Role[]
}

/** Why nobody may log in with this password, though it may be right; undefined where anybody may. */
export type PasswordRule = (password: string) => string | undefined

export interface BasicAuthenticator extends Authenticator {
  /** From now on these users may log in, and no others. Throws where one could not, and changes nothing then. */
  setUsers(users: readonly BasicUser[]): void
}

const scheme = 'basic'

/**
 * HTTP basic authentication (RFC 7617, UTF-8).
 *
 * Each password that was right once is remembered, as a hash with a key that only this process has: requests with it cost
 * little, and no flood keeps them out. A connection that goes on with the header that was right before costs not even the hash. There is one such memory for each password that is configured, so nobody can push
 * out what others have left there. Everything else is an attempt: each address and each user has a few of them, few hashes are
 * computed at a time, some wait, and the rest is told when to try again. A wrong username takes as long as a wrong password.
 */
export function createBasicAuthenticator(
  users: readonly BasicUser[],
  clock: Clock = systemClock,
  rule: PasswordRule = () => undefined,
): BasicAuthenticator {
  const key = randomBytes(32).toString('base64')
  /** The key comes first and has one length; a username has no colon: so no two pairs are one text. */
  const toPair = (username: string, password: string) => hash('sha256', `${key}${username}:${password}`, 'base64')
  let accounts: ReadonlyMap<string, Account> = new Map()
  let allHashes: readonly (readonly PasswordHash[])[] = []
  const limiter = createLimiter({ running: 2, waiting: 64 })
  const byAddress = createThrottle(attemptsOfEach, clock)
  const byUser = createThrottle(attemptsOfEach, clock)
  const attempts = new Map<string, Promise<Principal | Refusal>>()
  /** What was right last on each connection that is open. A client that compares with it knows it already. */
  let latest = new WeakMap<object, { readonly authorization: string; readonly principal: Principal }>()

  function setUsers(given: readonly BasicUser[]): void {
    checkUsers(given)
    const before = accounts
    accounts = new Map(
      given.map(user => {
        const name = user.username.normalize('NFC')
        return [name, toAccount(user, toPair, before.get(name))]
      }),
    )
    allHashes = [...accounts.values()].map(hashesOf)
    latest = new WeakMap()
  }

  const memory: Memory = {
    async remember(principal) {
      const all = [...accounts.values()].flatMap(({ passwords }) => passwords)
      const password = all.find(each => each.principal === principal)
      return password && { scheme, facts: { name: principal.name, proof: await password.proof() } }
    },
    async recall({ scheme: of, facts: { name, proof } }) {
      const account = of === scheme ? accounts.get(String(name).normalize('NFC')) : undefined
      for (const password of account?.passwords ?? []) if ((await password.proof()) === proof) return password.principal
      return undefined
    },
  }

  setUsers(users)

  async function attempt(login: Login, pair: string, address: string | undefined): Promise<Principal | Refusal> {
    const account = accounts.get(login.username)
    // Names that nobody has are counted alike, and what is kept of them has one length.
    const counts: [Throttle, string][] = [[byUser, toPair(login.username, '')]]
    if (address !== undefined) counts.push([byAddress, networkOf(address)])
    const wait = Math.max(...counts.map(([throttle, key]) => throttle.wait(key)))
    const principal = account?.name
    if (wait > 0) return { ...tooMany(wait), principal }
    for (const [throttle, key] of counts) throttle.take(key)
    // Before any work, for whatever user: how long it takes tells nothing but the password that was sent.
    const refused = rule(login.password)
    if (refused !== undefined) return { refused, principal }
    const found = await limiter.run(() =>
      findPassword(login.password, account, makeDecoys(hashesOf(account), allHashes)),
    )
    if (found === 'wrong') return { ...wrong, principal }
    for (const [throttle, key] of counts) throttle.giveBack(key)
    if (found === undefined) return tooMany(pauseWhenBusy)
    found.pair = pair
    return found.principal
  }

  /** The same pair from many connections at once (a platform that has just started) is one attempt. */
  function tryOnce(login: Login, pair: string, address: string | undefined): Promise<Principal | Refusal> {
    const running = attempts.get(pair)
    if (running !== undefined) return running
    const started = attempt(login, pair, address).finally(() => attempts.delete(pair))
    attempts.set(pair, started)
    return started
  }

  return {
    scheme,
    challenge: 'Basic realm="purser", charset="UTF-8"',
    memory,
    setUsers,
    authenticate(request) {
      const { connection } = request
      const { authorization } = request.headers
      const before = connection && latest.get(connection)
      if (before !== undefined && before.authorization === authorization) return before.principal
      if (authorization === undefined || !/^basic( |$)/i.test(authorization)) return undefined
      const login = authorization.length > longestHeader ? undefined : decode(authorization)
      if (login === undefined) return malformed
      const pair = toPair(login.username, login.password)
      const account = accounts.get(login.username)
      // Compared as texts: whoever does not know the key cannot choose what a hash begins with.
      const known = account?.passwords.find(password => password.pair === pair)
      if (known === undefined) return tryOnce(login, pair, request.address)
      const { principal } = known
      if (connection !== undefined) latest.set(connection, { authorization, principal })
      return principal
    },
  }
}

const wrong: Refusal = { refused: 'wrong username or password' }
const malformed: Refusal = { refused: 'the Authorization header is malformed' }

function tooMany(waitMs: number): Refusal {
  return { refused: 'too many attempts to log in', retryAfter: Math.ceil(waitMs / 1000) }
}

/** For whoever types a password, and for a platform with an old one, more than enough; for guessing too little. */
const attemptsOfEach = { burst: 32, interval: 1_000, mostKeys: 10_000 }
/** Until most of those that wait have had their turn. */
const pauseWhenBusy = 5_000
const longestHeader = 4096

/** Where the caller's code has no types. Shows nothing of a user: a password may stand in it. */
function checkUsers(users: readonly BasicUser[]): void {
  const form = 'write [{ username, password or passwordHash, platform, roles }]'
  if (!Array.isArray(users) || users.length === 0)
    throw new TypeError(`createBasicAuthenticator needs a list with at least one user: ${form}`)
  users.forEach((user: Partial<BasicUser> | undefined, index) => {
    const texts = [user?.username, revealed(user?.password ?? user?.passwordHash), user?.platform]
    const complete = texts.every(text => typeof text === 'string') && Array.isArray(user?.roles)
    if (!complete)
      throw new TypeError(`createBasicAuthenticator: user ${index + 1} of the list is not complete: ${form}`)
    if (user?.username?.includes(':') || hasControls(`${user?.username}${revealed(user?.password)}`))
      throw new TypeError(
        `createBasicAuthenticator: user ${index + 1} of the list could never log in: no client can send control characters, such as a line end, or a username with a colon`,
      )
  })
}

interface Account {
  readonly name: string
  readonly passwords: readonly StoredPassword[]
}

interface StoredPassword {
  /** Whom it lets in: an object of its own, which says that it was this password. */
  readonly principal: Principal
  /** What a session that it has begun is good by, for as long as the password is configured. */
  readonly proof: () => Promise<string>
  /** The hash as it is configured. */
  readonly text?: string
  readonly hash?: PasswordHash
  /** Of the pair that fits it: from the beginning where the password itself is configured, else once it was right. */
  pair?: string | undefined
}

type ToPair = (username: string, password: string) => string

function toPrincipal({ username, platform, roles }: BasicUser): Principal {
  return Object.freeze({ name: username, platform, roles })
}

/** What is known of the same hash goes on being known: a platform does not have to show its password anew. */
function toAccount(user: BasicUser, toPair: ToPair, before: Account | undefined): Account {
  const { username } = user
  const password = revealed(user.password)
  const hashes = [user.passwordHash, user.previousPasswordHash].map(revealed).filter(text => text !== undefined)
  const store = (secret: PasswordSecret) => ({ principal: toPrincipal(user), proof: once(username, secret) })
  const plain =
    password === undefined
      ? []
      : [{ ...store({ password }), pair: toPair(username.normalize('NFC'), password.normalize('NFC')) }]
  const stored = hashes.map(text => {
    const pair = before?.passwords.find(known => known.text === text)?.pair
    return { ...store({ passwordHash: text }), text, hash: parsePasswordHash(text), pair }
  })
  return { name: username, passwords: [...plain, ...stored] }
}

/** Made when somebody asks for it: it may take as much work as a login. */
function once(username: string, secret: PasswordSecret): () => Promise<string> {
  let proof: Promise<string> | undefined
  return () => {
    proof ??= toPasswordProof(username, secret)
    return proof
  }
}

function hashesOf(account: Account | undefined): readonly PasswordHash[] {
  return account?.passwords.flatMap(({ hash }) => hash ?? []) ?? []
}

/** The one that fits; `wrong` only after all the work, with that of the decoys. */
async function findPassword(
  password: string,
  account: Account | undefined,
  decoys: readonly PasswordHash[],
): Promise<StoredPassword | 'wrong'> {
  for (const stored of account?.passwords ?? [])
    if (stored.hash !== undefined && (await verifyPassword(password, stored.hash))) return stored
  for (const decoy of decoys) await verifyPassword(password, decoy)
  return 'wrong'
}

interface Login {
  readonly username: string
  readonly password: string
}

/** The user ends at the first colon; a password may hold more of them. */
function decode(authorization: string): Login | undefined {
  const encoded = /^basic +([A-Za-z0-9+/_-]+={0,2}) *$/i.exec(authorization)?.[1]
  if (encoded === undefined) return undefined
  const bytes = Buffer.from(encoded, 'base64')
  const text = bytes.toString('utf8').normalize('NFC')
  const colon = text.indexOf(':')
  if (colon < 0 || hasControls(text) || !isUtf8(bytes)) return undefined
  return { username: text.slice(0, colon), password: text.slice(colon + 1) }
}
