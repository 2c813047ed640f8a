import { createHmac, hkdfSync, randomBytes, scrypt, timingSafeEqual } from 'node:crypto'
import type { IssuedSession, Principal, Session, Sessions } from '../authenticator.ts'
import type { Clock } from '../clock.ts'

/** Whom sessions are for, and the secret of the configuration that their keys are made from. */
export interface SessionUser {
  readonly principal: Principal
  readonly password?: string | undefined
  readonly passwordHash?: string | undefined
}

/** A session ends this long after it was last renewed, */
const idleTime = 30 * 60_000
/** and this long after it was begun. */
const longestTime = 12 * 60 * 60_000

/**
 * Sessions as signed tokens: `name.begun.expires.nonce.signature`. The key of each user is made from the password that is
 * configured: replicas have the same one without telling each other, and a new password ends the sessions of the old one. What
 * a user may do is looked up for each request.
 */
export function createSessions(users: readonly SessionUser[], clock: Clock): Sessions {
  const byName = new Map(users.map(user => [user.principal.name, { ...user, key: once(() => toKey(user)) }]))

  async function issue(name: string, begunAt: number): Promise<IssuedSession | undefined> {
    const user = byName.get(name)
    const expiresAt = Math.min(clock.now() + idleTime, begunAt + longestTime)
    if (user === undefined || expiresAt <= clock.now()) return undefined
    const nonce = randomBytes(12).toString('base64url')
    const signed = `${Buffer.from(name).toString('base64url')}.${begunAt}.${expiresAt}.${nonce}`
    const token = `${signed}.${sign(signed, await user.key()).toString('base64url')}`
    return { principal: user.principal, begunAt, expiresAt, token }
  }

  return {
    async begin(principal) {
      const isOwn = byName.get(principal.name)?.principal === principal
      return isOwn ? issue(principal.name, clock.now()) : undefined
    },
    renew: ({ principal, begunAt }) => issue(principal.name, begunAt),
    async read(token): Promise<Session | undefined> {
      const [, signed = '', encoded = '', begun, expires, signature = ''] = form.exec(token) ?? []
      const user = byName.get(Buffer.from(encoded, 'base64url').toString())
      if (user === undefined) return undefined
      const given = Buffer.from(signature, 'base64url')
      const wanted = sign(signed, await user.key())
      if (given.length !== wanted.length || !timingSafeEqual(given, wanted)) return undefined
      const session = { principal: user.principal, begunAt: Number(begun), expiresAt: Number(expires) }
      return session.expiresAt > clock.now() ? session : undefined
    },
  }
}

const form = /^(([\w-]{1,1400})\.(\d{1,15})\.(\d{1,15})\.[\w-]{16})\.([\w-]{43})$/

function sign(text: string, key: Uint8Array): Buffer {
  return createHmac('sha256', key).update(text).digest()
}

/** From a hash, which nobody can guess, at once; from a password by as much work as a hash of it takes. */
async function toKey({ principal, password, passwordHash }: SessionUser): Promise<Uint8Array> {
  const about = `purser session ${principal.name}`
  if (passwordHash !== undefined) return new Uint8Array(hkdfSync('sha256', passwordHash, '', about, 32))
  return new Promise((resolve, reject) => {
    const work = { cost: 2 ** 15, blockSize: 8, maxmem: 2 ** 26 }
    scrypt(password ?? '', about, 32, work, (error, key) => (error ? reject(error) : resolve(key)))
  })
}

function once<Value>(make: () => Promise<Value>): () => Promise<Value> {
  let made: Promise<Value> | undefined
  return () => {
    made ??= make()
    return made
  }
}
