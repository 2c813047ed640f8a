/**
 * How tokens may be signed: with a private key that only their issuer has. `none` and HMAC are not among them, so that nobody
 * can sign with a key that everybody may read.
 */
export const signatureAlgorithms = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
] as const

export type SignatureAlgorithm = (typeof signatureAlgorithms)[number]
