import type { Clock } from '../clock.ts'
import { fetchJson } from './fetch-json.ts'

/** What a provider says of itself (OpenID Connect Discovery, 4). */
export interface Provider {
  readonly authorization: string
  readonly tokens: string
  readonly keys: string
  /** How the client shows its secret: by basic authentication, else in the body. */
  readonly takesBasic: boolean
}

const freshFor = 10 * 60_000
const pauseAfterFailure = 5_000

/** Asks when it is needed, and not too often. Rejects where the provider cannot be used. */
export function createProvider(
  issuer: string,
  clock: Clock,
  onFailure: (error: unknown) => void,
): () => Promise<Provider> {
  let asked: Promise<Provider> | undefined
  let goodUntil = Number.NEGATIVE_INFINITY
  return () => {
    if (asked !== undefined && clock.now() < goodUntil) return asked
    goodUntil = clock.now() + freshFor
    asked = discover(issuer)
    asked.catch(error => {
      goodUntil = clock.now() + pauseAfterFailure
      onFailure(error)
    })
    return asked
  }
}

async function discover(issuer: string): Promise<Provider> {
  const found = await fetchJson(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`)
  if (found.issuer !== issuer) throw new Error(`${issuer} says that it is another issuer`)
  const { token_endpoint_auth_methods_supported: methods } = found
  return {
    authorization: endpoint(found, 'authorization_endpoint', issuer),
    tokens: endpoint(found, 'token_endpoint', issuer),
    keys: endpoint(found, 'jwks_uri', issuer),
    takesBasic: !Array.isArray(methods) || methods.includes('client_secret_basic'),
  }
}

/** Secrets go there: it must not be less protected than the issuer. */
function endpoint(found: Readonly<Record<string, unknown>>, name: string, issuer: string): string {
  const url = found[name]
  const isUsable = typeof url === 'string' && URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)
  if (isUsable && (url.startsWith('https://') || issuer.startsWith('http://'))) return url
  throw new Error(`the OpenID configuration of ${issuer} has no ${name} with an https URL`)
}
