import type { Principal } from '../../authenticator.ts'
import type { RefusedSignIn } from '../../domain/refused-sign-ins.ts'
import type { Observer } from '../../observer.ts'
import { BrokerError } from '../../protocol/errors.ts'
import type { Exchange } from '../exchange.ts'
import type { HttpResponse } from '../message.ts'
import { json, methodNotAllowed } from '../respond.ts'
import { endSessionCookies, findSessionToken, isReachedByTls, scopeOf, toSessionCookie } from '../session-cookie.ts'
import type { IssuedSession, Sessions } from '../sessions.ts'
import { toTime } from './chores.ts'
import { refusalOf } from './roles.ts'

export const sessionPath = '/admin/session'

export interface SessionParts {
  readonly sessions: Sessions
  readonly observer: Observer
  readonly publicUrl?: string
  /** Sign-ins that were refused stand in the history, too. */
  readonly countRefused: (refused: RefusedSignIn) => void
  readonly now: number
}

/** Whether somebody tries to begin a session. Other requests with credentials are no sign-ins. */
export function isSignIn({ method, path, session }: Exchange): boolean {
  return method === 'POST' && path === sessionPath && session === undefined
}

/**
 * POST /admin/session: with credentials it begins a session, with the cookie of one it renews it. DELETE ends it, for every
 * replica. The answer never holds the token.
 */
export async function handleSession(
  parts: SessionParts,
  exchange: Exchange,
  principal: Principal,
): Promise<HttpResponse> {
  exchange.route = sessionPath
  const { sessions, observer, publicUrl, countRefused, now } = parts
  const { method, request, session, headers, address, requestId } = exchange
  const lacking = refusalOf(principal, 'viewer')
  if (lacking !== undefined) {
    if (isSignIn(exchange)) countRefused({ principal: principal.name, address, reason: lacking })
    throw new BrokerError('Forbidden', lacking)
  }
  const scope = scopeOf(request, publicUrl)
  const token = findSessionToken(headers.cookie, isReachedByTls(request, publicUrl)) ?? ''
  if (method === 'DELETE') {
    const acting = { by: principal.name, address, requestId }
    if (session !== undefined && (await sessions.end(session.id, acting)) !== undefined)
      observer['session.ended']?.({ session: session.id, of: principal.name, principal: principal.name })
    return withCookies(json(200, {}), endSessionCookies(scope))
  }
  if (method !== 'POST') throw methodNotAllowed(['POST', 'DELETE'])
  const issued = session === undefined ? await begin(parts, exchange, principal) : await sessions.renew(session, token)
  const { name, platform, roles } = principal
  const answer = json(200, { name, platform, roles: [...roles], expires_at: toTime((issued ?? session)?.expiresAt) })
  return issued === undefined ? answer : withCookies(answer, [toSessionCookie(issued.token, issued, now, scope)])
}

/** A session that the browser has already is ended: who signs in anew is maybe somebody else. */
export async function begin(
  { sessions, observer, publicUrl }: Pick<SessionParts, 'sessions' | 'observer' | 'publicUrl'>,
  { address, requestId, request, headers }: Exchange,
  principal: Principal,
): Promise<IssuedSession | undefined> {
  const former = findSessionToken(headers.cookie, isReachedByTls(request, publicUrl))
  const left = former === undefined ? undefined : await sessions.read(former)
  if (left !== undefined) await sessions.end(left.id, { by: principal.name, address, requestId })
  const begun = await sessions.begin(principal, { address, requestId })
  if (begun !== undefined)
    observer['session.begun']?.({ session: begun.id, principal: principal.name, address, platform: principal.platform })
  return begun
}

export function withCookies(response: HttpResponse, cookies: string[]): HttpResponse {
  return { ...response, headers: { ...response.headers, 'set-cookie': cookies } }
}
