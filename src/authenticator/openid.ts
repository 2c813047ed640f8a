import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { type Authenticator, isRefusal, type Principal, type Refusal } from '../authenticator.ts'
import { type Clock, wallClock } from '../clock.ts'
import { revealed, type Sensitive } from '../sensitive/sensitive.ts'
import type { SignatureAlgorithm } from './algorithms.ts'
import { type ClaimRules, toPrincipal } from './claims.ts'
import { AnswerError, fetchJson } from './fetch-json.ts'
import { createKeySet } from './key-set.ts'
import { createLimiter } from './limiter.ts'
import { createProvider, type Provider } from './openid-provider.ts'
import { createTokenMemory } from './token-memory.ts'
import { verifyToken } from './verify-token.ts'

export interface OpenIdOptions extends ClaimRules {
  readonly issuer: string
  readonly clientId: string
  readonly clientSecret?: string | Sensitive<string> | undefined
  readonly scopes: readonly string[]
  readonly algorithms: readonly SignatureAlgorithm[]
  /** In milliseconds. */
  readonly clockSkew: number
  /** What the button says. */
  readonly label: string
  /** Where the provider leads people back to. */
  readonly redirectUri: string
  readonly clock?: Clock
  readonly onFailure?: (error: unknown) => void
}

const scheme = 'openid'

/**
 * Sign-in with OpenID Connect, for people: an authorization code with PKCE (S256), `state` and `nonce`. What belongs to one
 * sign-in is kept in a cookie of the browser that has begun it, so any replica can finish it, and no other browser can.
 */
export function createOpenIdAuthenticator(options: OpenIdOptions): Authenticator {
  const { issuer, clientId, redirectUri, clock = wallClock, onFailure = () => {} } = options
  const clientSecret = revealed(options.clientSecret)
  const provider = createProvider(issuer, clock, onFailure)
  const keys = createKeySet({ load: async () => fetchJson((await provider()).keys), clock, onFailure })
  const memory = createTokenMemory(scheme, trusted => trusted === issuer)
  // Whoever comes back makes the broker ask the provider, also with a code that was made up.
  const limiter = createLimiter({ running: 8, waiting: 64 })

  async function finish(code: string, { nonce, verifier }: Kept): Promise<Principal | Refusal> {
    const token = await redeem(await provider(), code, verifier)
    if (token === undefined) return { refused: 'the provider gave no id_token' }
    const verified = await verifyToken(token, { ...options, audience: [clientId] }, keys, clock)
    if (!('claims' in verified)) return verified
    const { claims } = verified
    if (typeof claims.nonce !== 'string' || !isSame(claims.nonce, nonce))
      return { refused: 'the id_token was made for another sign-in' }
    if (claims.azp !== undefined ? claims.azp !== clientId : Array.isArray(claims.aud) && claims.aud.length > 1)
      return { refused: 'the id_token was made for another client' }
    const principal = toPrincipal(claims, options)
    if (!isRefusal(principal)) memory.note(principal, issuer)
    return principal
  }

  async function redeem({ tokens, takesBasic }: Provider, code: string, verifier: string): Promise<string | undefined> {
    const form = { grant_type: 'authorization_code', code, redirect_uri: redirectUri, code_verifier: verifier }
    const isBasic = clientSecret !== undefined && takesBasic
    const more = isBasic ? {} : { client_id: clientId, ...(clientSecret && { client_secret: clientSecret }) }
    const { id_token: token } = await fetchJson(tokens, {
      method: 'POST',
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        ...(isBasic ? { authorization: toBasic(clientId, clientSecret) } : {}),
      },
      body: new URLSearchParams({ ...form, ...more }).toString(),
    })
    return typeof token === 'string' ? token : undefined
  }

  return {
    scheme,
    memory,
    // People come with the session that a sign-in has begun.
    authenticate: () => undefined,
    signIn: {
      label: options.label,
      async begin() {
        const kept: Kept = { state: random(), nonce: random(), verifier: random() }
        try {
          const url = new URL((await provider()).authorization)
          const asked = {
            response_type: 'code',
            client_id: clientId,
            redirect_uri: redirectUri,
            scope: ['openid', ...options.scopes].join(' '),
            state: kept.state,
            nonce: kept.nonce,
            code_challenge: createHash('sha256').update(kept.verifier).digest('base64url'),
            code_challenge_method: 'S256',
          }
          for (const [name, value] of Object.entries(asked)) url.searchParams.set(name, value)
          return { location: url.href, kept: `${kept.state}.${kept.nonce}.${kept.verifier}` }
        } catch {
          return unavailable
        }
      },
      async finish(query, text) {
        const kept = readKept(text)
        const answer = new URLSearchParams(query)
        const [state, code, from] = ['state', 'code', 'iss'].map(name => only(answer, name))
        if (kept === undefined || state === undefined || !isSame(state, kept.state))
          return { refused: 'this browser has not begun the sign-in that it came back from' }
        // RFC 9207: another provider must not have answered in its place.
        if (from !== undefined && from !== issuer) return { refused: 'another provider has answered' }
        if (answer.has('error') || code === undefined) return { refused: 'the provider has refused the sign-in' }
        try {
          return (await limiter.run(() => finish(code, kept))) ?? unavailable
        } catch (error) {
          if (error instanceof AnswerError && error.status === 400 && error.code === 'invalid_grant') return unknownCode
          onFailure(error)
          return unavailable
        }
      },
    },
  }
}

/** It was made up, used before, of another sign-in, or is too old. */
const unknownCode: Refusal = { refused: 'the provider has refused the code' }
const unavailable: Refusal = { refused: 'the provider did not answer as it should', unavailable: true, retryAfter: 5 }

interface Kept {
  readonly state: string
  readonly nonce: string
  readonly verifier: string
}

function readKept(text: string): Kept | undefined {
  const [, state, nonce, verifier] = /^([\w-]{43})\.([\w-]{43})\.([\w-]{43})$/.exec(text) ?? []
  return state === undefined || nonce === undefined || verifier === undefined ? undefined : { state, nonce, verifier }
}

function random(): string {
  return randomBytes(32).toString('base64url')
}

/** The one value of a parameter; undefined where it came several times. */
function only(answer: URLSearchParams, name: string): string | undefined {
  const [value, ...others] = answer.getAll(name)
  return others.length === 0 ? value : undefined
}

function isSame(one: string, other: string): boolean {
  const [left, right] = [Buffer.from(one), Buffer.from(other)]
  return left.length === right.length && timingSafeEqual(left, right)
}

/** RFC 6749, 2.3.1: both are form-encoded first. */
function toBasic(id: string, secret: string): string {
  const encode = (text: string) => new URLSearchParams({ '': text }).toString().slice(1)
  return `Basic ${Buffer.from(`${encode(id)}:${encode(secret)}`).toString('base64')}`
}
