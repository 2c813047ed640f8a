import { errors, type JWTPayload, type JWTVerifyOptions, jwtVerify } from 'jose'
import type { Refusal } from '../authenticator.ts'
import type { Clock } from '../clock.ts'
import type { SignatureAlgorithm } from './algorithms.ts'
import { type KeySet, NoKeysError } from './key-set.ts'

export interface TokenRules {
  readonly issuer: string
  readonly audience: readonly string[]
  readonly algorithms: readonly SignatureAlgorithm[]
  /** In milliseconds. */
  readonly clockSkew: number
}

export interface VerifiedToken {
  readonly claims: JWTPayload
}

/** The claims of a token that this issuer has signed for us and that is good now, or why it is not. */
export async function verifyToken(
  token: string,
  { issuer, audience, algorithms, clockSkew }: TokenRules,
  keys: KeySet,
  clock: Clock,
): Promise<VerifiedToken | Refusal> {
  try {
    const claims = await readClaims(token, keys, {
      issuer,
      audience: [...audience],
      algorithms: [...algorithms],
      clockTolerance: clockSkew / 1000,
      currentDate: new Date(clock.now()),
      // A token without an end would be good for ever.
      requiredClaims: ['exp', 'iss', 'aud'],
    })
    return { claims }
  } catch (error) {
    if (error instanceof NoKeysError) return { refused: error.message, unavailable: true, retryAfter: 5 }
    return { refused: reasonOf(error) }
  }
}

/** An issuer has a few keys at a time. More of them would let one token cost as much as many. */
const mostKeys = 8

async function readClaims(token: string, keys: KeySet, options: JWTVerifyOptions): Promise<JWTPayload> {
  try {
    return (await jwtVerify(token, (header, jws) => keys.find(header, jws), options)).payload
  } catch (error) {
    // RFC 7515, 4.1.4: a token need not name its key.
    if (error instanceof errors.JWKSMultipleMatchingKeys) return tryEach(error, token, options)
    throw error
  }
}

async function tryEach(
  fitting: errors.JWKSMultipleMatchingKeys,
  token: string,
  options: JWTVerifyOptions,
): Promise<JWTPayload> {
  let tried = 0
  for await (const key of fitting) {
    try {
      return (await jwtVerify(token, key, options)).payload
    } catch (error) {
      if (!(error instanceof errors.JWSSignatureVerificationFailed)) throw error
    }
    tried += 1
    if (tried === mostKeys) break
  }
  throw new errors.JWSSignatureVerificationFailed()
}

/** The library's words for a claim name it; its other words are about the form. Nothing of the token is repeated. */
function reasonOf(error: unknown): string {
  if (error instanceof errors.JWTExpired) return 'the token has expired'
  if (error instanceof errors.JWTClaimValidationFailed) return `the claim ${error.claim} of the token is not good`
  if (error instanceof errors.JOSEAlgNotAllowed) return 'the token is signed with an algorithm that is not allowed'
  if (error instanceof errors.JWKSNoMatchingKey) return 'the token names a key that its issuer does not have'
  if (error instanceof errors.JWSSignatureVerificationFailed) return 'the signature of the token is wrong'
  return 'the token is malformed'
}
