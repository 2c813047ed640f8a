import { decodeJwt, type JWTPayload } from 'jose'
import { type Authenticator, isRefusal, type Principal, type Refusal } from '../authenticator.ts'
import { type Clock, wallClock } from '../clock.ts'
import { type ClaimRules, toPrincipal } from './claims.ts'
import type { KeySet } from './key-set.ts'
import { createTokenMemory } from './token-memory.ts'
import { type TokenRules, verifyToken } from './verify-token.ts'

/** An issuer of bearer tokens, and what its tokens are good for here. */
export interface TokenIssuer extends TokenRules, ClaimRules {
  readonly keys: KeySet
}

const scheme = 'bearer'
const longestToken = 8192
/** A token that was good on a connection is not checked again for so long: keys that are withdrawn count soon. */
const sureFor = 60_000

/**
 * Bearer tokens (RFC 6750) that are JWTs, of one or several issuers. A token names its issuer, and only the keys, the algorithms
 * and the audience of that one count. What else the header of a token says (`jku`, `jwk`, `x5u`) is not looked at.
 */
export function createJwtAuthenticator(issuers: readonly TokenIssuer[], clock: Clock = wallClock): Authenticator {
  const byName = new Map(issuers.map(issuer => [issuer.issuer, issuer]))
  const twice = issuers.find(issuer => byName.get(issuer.issuer) !== issuer)
  if (twice !== undefined)
    throw new TypeError(`createJwtAuthenticator: there are two entries for ${twice.issuer}: put them into one`)
  const latest = new WeakMap<
    object,
    { readonly authorization: string; readonly principal: Principal; readonly until: number }
  >()
  const memory = createTokenMemory(scheme, issuer => byName.has(issuer))

  async function check(authorization: string, connection: object | undefined): Promise<Principal | Refusal> {
    const token = /^bearer +([\w-]+\.[\w-]+\.[\w-]+) *$/i.exec(authorization)?.[1]
    const claimed = token === undefined || token.length > longestToken ? undefined : decode(token)
    if (token === undefined || claimed === undefined) return refuse({ refused: 'the token is malformed' })
    const issuer = byName.get(claimed.iss ?? '')
    if (issuer === undefined) return refuse({ refused: 'the token is of an issuer that is not known here' })
    const verified = await verifyToken(token, issuer, issuer.keys, clock)
    if (!('claims' in verified)) return refuse(verified)
    const { claims } = verified
    const principal = toPrincipal(claims, issuer)
    if (isRefusal(principal)) return refuse(principal)
    const expiresAt = (claims.exp ?? 0) * 1000 + issuer.clockSkew
    memory.note(principal, issuer.issuer, expiresAt)
    if (connection !== undefined)
      latest.set(connection, { authorization, principal, until: Math.min(expiresAt, clock.now() + sureFor) })
    return principal
  }

  return {
    scheme,
    challenge: 'Bearer realm="purser"',
    memory,
    authenticate({ headers: { authorization }, connection }) {
      if (authorization === undefined || !/^bearer( |$)/i.test(authorization)) return undefined
      const before = connection && latest.get(connection)
      if (before?.authorization === authorization && clock.now() < before.until) return before.principal
      return check(authorization, connection)
    },
  }
}

function refuse(refusal: Refusal): Refusal {
  return refusal.unavailable === true
    ? refusal
    : { ...refusal, challenge: 'Bearer realm="purser", error="invalid_token"' }
}

/** What it says of itself, which nobody has checked yet. */
function decode(token: string): JWTPayload | undefined {
  try {
    return decodeJwt(token)
  } catch {
    return undefined
  }
}
