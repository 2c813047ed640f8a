import type { Clock } from '../../clock.ts'
import { isJsonObject } from '../../protocol/json.ts'
import type { Credentials } from '../credentials.ts'
import { RegistryError } from '../registry-error.ts'
import { basic, bearer } from '../web/authorization.ts'
import { showUrl } from '../web/send.ts'
import { jsonOf, type WebClient } from '../web/web-client.ts'
import { type Challenge, parseChallenge } from './challenge.ts'

export interface Authorizer {
  /** The header for a request within a scope, as far as it is known what the registry wants. */
  authorization(scope: string): Promise<string | undefined>
  /** Takes in what a 401 says; false where there is nothing more to try. */
  learn(scope: string, header: string | undefined): boolean
}

/** Credentials are sent only where the registry asks for them, and only in the way that it asks for. */
export function createAuthorizer(
  base: URL,
  credentials: Credentials,
  { web, clock }: { readonly web: WebClient; readonly clock: Clock },
): Authorizer {
  let challenge: Challenge | undefined
  /** The scope that the registry asked for, by the scope that was requested. */
  const told = new Map<string, string>()
  const tokens = new Map<string, Promise<Token>>()

  const fetchToken = async (asked: Challenge & { readonly kind: 'bearer' }, scope: string): Promise<Token> => {
    const url = realmOf(asked.realm, base)
    if (asked.service !== undefined) url.searchParams.set('service', asked.service)
    for (const one of (told.get(scope) ?? scope).split(' ')) if (one !== '') url.searchParams.append('scope', one)
    const { username, password } = credentials
    const refused =
      username === undefined ? 'to be asked without credentials; add some' : 'the credentials; correct them'
    if (username !== undefined) url.searchParams.set('account', username)
    const reply = await web.get(url, { authorization: basic(username, password), limit: 256 * 1024 })
    if (reply.status === 401 || reply.status === 403)
      throw new RegistryError(`${showUrl(url)}: the token service refuses ${refused}`)
    return readToken(jsonOf(reply, url), url, clock.now())
  }

  const tokenFor = async (asked: Challenge & { readonly kind: 'bearer' }, scope: string): Promise<string> => {
    const kept = await tokens.get(scope)?.catch(() => undefined)
    if (kept !== undefined && kept.until > clock.now()) return kept.value
    const next = fetchToken(asked, scope)
    tokens.set(scope, next)
    return (await next).value
  }

  return {
    async authorization(scope) {
      const { username, password, token } = credentials
      if (challenge === undefined) return undefined
      // The token in the credentials counts only where they have no user.
      if (token !== undefined && username === undefined) return bearer(token)
      if (challenge.kind === 'bearer') return bearer(await tokenFor(challenge, scope))
      return basic(username, password)
    },
    learn(scope, header) {
      const next = parseChallenge(header)
      if (next === undefined) return false
      challenge = next
      tokens.delete(scope)
      if (next.kind === 'bearer' && next.scope !== undefined) told.set(scope, next.scope)
      return next.kind === 'bearer' || credentials.username !== undefined || credentials.token !== undefined
    },
  }
}

interface Token {
  readonly value: string
  readonly until: number
}

function readToken(reply: unknown, url: URL, now: number): Token {
  const fields = isJsonObject(reply) ? reply : {}
  const value = fields.token ?? fields.access_token
  if (typeof value !== 'string' || !/^[\x21-\x7e]+$/.test(value))
    throw new RegistryError(`${showUrl(url)}: the token service did not give a token`)
  const seconds = typeof fields.expires_in === 'number' && fields.expires_in > 0 ? fields.expires_in : 60
  // A request may still be on its way when it ends.
  return { value, until: now + seconds * 900 }
}

/** Whoever answers for the registry says where to send the credentials: never without TLS where the registry has it. */
function realmOf(realm: string, base: URL): URL {
  if (!URL.canParse(realm, base.href)) throw new RegistryError(`${base.origin}: its token service is not a URL`)
  const url = new URL(realm, base)
  if (url.protocol !== 'https:' && url.protocol !== base.protocol)
    throw new RegistryError(`${base.origin}: its token service ${url.origin} has no TLS, and so gets no credentials`)
  return url
}
