import { isJsonObject } from '../../protocol/json.ts'
import type { Credentials } from '../credentials.ts'
import { RegistryError } from '../registry-error.ts'
import type { Asking } from '../registry-type.ts'
import { jsonOf } from '../web/web-client.ts'
import { basic, bearer, showUrl, type WebReply, type WebRequest } from '../web/web-request.ts'

/** Asks one registry, with whatever authorization it wants. */
export interface OciClient {
  readonly base: URL
  /** Within a repository; or, where there is none, in the registry as a whole. */
  get(url: URL, options: OciOptions): Promise<WebReply>
}

type OciOptions = Pick<WebRequest, 'accept' | 'limit'> & { readonly repository?: string; readonly method?: 'HEAD' }

type Bearer = Challenge & { readonly kind: 'bearer' }

/**
 * Credentials are sent only where the registry asks for them, and only in the way that it asks for. Nobody else can ask: not
 * who it redirects to, and no token service but one of its own site or of `tokenHosts`.
 */
export function createOciClient(
  base: URL,
  { username, password, token }: Credentials,
  { web, clock, tokenHosts }: Pick<Asking, 'web' | 'clock'> & { readonly tokenHosts: readonly string[] },
): OciClient {
  let challenge: Challenge | undefined
  /** The scope that the registry asked for, by the scope that was requested. */
  const told = new Map<string, string>()
  const tokens = new Map<string, Promise<Token>>()

  const fetchToken = async ({ realm, service }: Bearer, scope: string): Promise<Token> => {
    const url = realmOf(realm, base)
    const isOurs = isSameSite(url, base) || tokenHosts.includes(url.hostname)
    if (username !== undefined && !isOurs)
      throw new RegistryError(
        `${base.origin}: its token service ${url.origin} is on another site, and so gets no credentials; if it may have them, add ${url.hostname} to token_hosts`,
      )
    if (service !== undefined) url.searchParams.set('service', service)
    for (const one of (told.get(scope) ?? scope).split(' ')) if (one !== '') url.searchParams.append('scope', one)
    if (username !== undefined) url.searchParams.set('account', username)
    const authorization = basic(username, password)
    const reply = await web.get(url, { authorization, limit: 256 * 1024, mustBePublic: !isOurs })
    const refused =
      username === undefined ? 'to be asked without credentials; add some' : 'the credentials; correct them'
    if (reply.status === 401 || reply.status === 403)
      throw new RegistryError(`${showUrl(url)}: the token service refuses ${refused}`)
    return readToken(jsonOf(reply, url), url, clock.now())
  }

  const tokenFor = async (asked: Bearer, scope: string): Promise<string> => {
    const kept = await tokens.get(scope)?.catch(() => undefined)
    if (kept !== undefined && kept.until > clock.now()) return kept.value
    const next = fetchToken(asked, scope)
    tokens.set(scope, next)
    return (await next).value
  }

  /** As far as it is known what the registry wants. */
  const authorize = async (scope: string): Promise<string | undefined> => {
    if (challenge === undefined) return undefined
    // The token in the credentials counts only where they have no user.
    if (token !== undefined && username === undefined) return bearer(token)
    if (challenge.kind === 'bearer') return bearer(await tokenFor(challenge, scope))
    return basic(username, password)
  }

  /** Takes in what a 401 says; false where there is nothing more to try. */
  const learn = (scope: string, header: string | undefined): boolean => {
    const next = parseChallenge(header)
    if (next === undefined) return false
    challenge = next
    tokens.delete(scope)
    if (next.kind === 'bearer' && next.scope !== undefined) told.set(scope, next.scope)
    return next.kind === 'bearer' || username !== undefined || token !== undefined
  }

  return {
    base,
    async get(url, { repository, accept, limit, method }) {
      const scope = repository === undefined ? 'registry:catalog:*' : `repository:${repository}:pull`
      const ask = async () =>
        web.get(url, { accept, authorization: await authorize(scope), limit, ...(method && { method }) })
      const reply = await ask()
      const asks = reply.status === 401 && reply.url.origin === base.origin
      return asks && learn(scope, reply.headers['www-authenticate']) ? ask() : reply
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

/**
 * The same host, one below it, or one above it, which owns its name. Not one beside it: under `co.uk` or `github.io` those are
 * strangers, and no rule but a list of all such names can tell.
 */
export function isSameSite({ hostname }: URL, base: URL): boolean {
  const isAbove = hostname.includes('.') && base.hostname.endsWith(`.${hostname}`)
  return hostname === base.hostname || hostname.endsWith(`.${base.hostname}`) || isAbove
}

/** How a registry wants to be asked. */
type Challenge =
  | { readonly kind: 'basic' }
  | { readonly kind: 'bearer'; readonly realm: string; readonly service?: string; readonly scope?: string }

/** The first one of a WWW-Authenticate header that is known here. */
export function parseChallenge(header = ''): Challenge | undefined {
  const schemes: { readonly scheme: string; readonly parameters: Map<string, string> }[] = []
  for (const [, key, quotedValue, value, scheme] of header.slice(0, 8192).matchAll(token)) {
    if (scheme !== undefined) schemes.push({ scheme: scheme.toLowerCase(), parameters: new Map() })
    else if (key !== undefined)
      schemes.at(-1)?.parameters.set(key.toLowerCase(), quotedValue?.replaceAll(/\\(.)/g, '$1') ?? value ?? '')
  }
  for (const { scheme, parameters } of schemes) {
    if (scheme === 'basic') return { kind: 'basic' }
    const realm = parameters.get('realm')
    if (scheme !== 'bearer' || realm === undefined) continue
    return { kind: 'bearer', realm, service: parameters.get('service'), scope: parameters.get('scope') }
  }
  return undefined
}

/** A parameter with its value, or else the name of a scheme. */
const token = /([\w-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+))|([\w-]+)/g
