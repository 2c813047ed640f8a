import { type Authenticator, isRefusal, type Refusal, type SignIn } from '../authenticator.ts'
import { BrokerError } from '../protocol/errors.ts'
import { refusalOf } from './admin/roles.ts'
import { begin, type SessionParts, withCookies } from './admin/session.ts'
import type { Exchange } from './exchange.ts'
import type { HttpResponse } from './message.ts'
import { methodNotAllowed, redirect } from './respond.ts'
import {
  endSignInCookie,
  findSignInCookie,
  isReachedByTls,
  scopeOf,
  toSessionCookie,
  toSignInCookie,
} from './session-cookie.ts'

const beginPath = '/console/sign-in'
const finishPath = '/console/signed-in'

export function isSignInPath(path: string): boolean {
  return path === beginPath || path === finishPath
}

export interface SignInParts extends Omit<SessionParts, 'now'> {
  readonly authenticator: Authenticator
  readonly now: () => number
}

/**
 * GET /console/sign-in leads to the page where people sign in, and leaves a cookie. GET /console/signed-in is where that page
 * leads back to: with the cookie of the same browser it begins a session. Then the console shows what came of it.
 */
export function createSignInRoutes(parts: SignInParts): (exchange: Exchange) => Promise<HttpResponse> {
  const { authenticator, observer, publicUrl, countRefused, now } = parts

  return async exchange => {
    exchange.route = exchange.path
    const { signIn } = authenticator
    if (signIn === undefined) throw new BrokerError('NotFound', 'This broker has no sign-in on another page.')
    if (exchange.method !== 'GET') throw methodNotAllowed(['GET'])
    return exchange.path === beginPath ? leave(signIn, exchange) : comeBack(signIn, exchange)
  }

  async function leave(signIn: SignIn, exchange: Exchange): Promise<HttpResponse> {
    const begun = await signIn.begin()
    if ('refused' in begun) return refuse(exchange, begun)
    return withCookies(redirect(begun.location), [toSignInCookie(begun.kept, scopeOf(exchange.request, publicUrl))])
  }

  async function comeBack(signIn: SignIn, exchange: Exchange): Promise<HttpResponse> {
    const scope = scopeOf(exchange.request, publicUrl)
    const kept = findSignInCookie(exchange.headers.cookie, isReachedByTls(exchange.request, publicUrl))
    const found =
      kept === undefined
        ? { refused: 'this browser has begun no sign-in, or longer ago than ten minutes' }
        : await signIn.finish(exchange.queryText, kept)
    if (isRefusal(found)) return refuse(exchange, found)
    const lacking = refusalOf(found, 'viewer')
    if (lacking !== undefined) return refuse(exchange, { refused: lacking, principal: found.name })
    const session = await begin(parts, exchange, found)
    if (session === undefined) return refuse(exchange, { refused: 'no session could be begun', principal: found.name })
    const cookies = [toSessionCookie(session.token, session, now(), scope), endSignInCookie(scope)]
    return withCookies(redirect(`${exchange.baseUrl()}/console/`), cookies)
  }

  /** Operators are told why; the browser is not. */
  function refuse(exchange: Exchange, refusal: Refusal): HttpResponse {
    const { method, path, address, requestId, request } = exchange
    const scheme = refusal.scheme ?? 'openid'
    observer['authentication.failed']?.({ scheme, reason: refusal.refused, method, path, address, requestId })
    const { principal, refused: reason } = refusal
    const outcome = refusal.unavailable === true ? 'unavailable' : 'refused'
    if (outcome === 'refused') countRefused({ scheme, principal, address, reason })
    const answer = redirect(`${exchange.baseUrl()}/console/?sign-in=${outcome}`)
    return withCookies(answer, [endSignInCookie(scopeOf(request, publicUrl))])
  }
}
