import type { Principal } from '../../authenticator.ts'
import type { Observer } from '../../observer.ts'
import type { Exchange } from '../exchange.ts'
import type { HttpResponse } from '../message.ts'
import { json, methodNotAllowed } from '../respond.ts'
import { endSessionCookies, findSessionToken, isReachedByTls, scopeOf, toSessionCookie } from '../session-cookie.ts'
import type { IssuedSession, Sessions } from '../sessions.ts'
import { toTime } from './chores.ts'

export const sessionPath = '/admin/session'

export interface SessionParts {
  readonly sessions: Sessions
  readonly observer: Observer
  readonly publicUrl?: string
  readonly now: number
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
  const { sessions, observer, publicUrl, now } = parts
  const { method, request, session, headers } = exchange
  const scope = scopeOf(request, publicUrl)
  const token = findSessionToken(headers.cookie, isReachedByTls(request, publicUrl)) ?? ''
  if (method === 'DELETE') {
    if (session !== undefined && (await sessions.end(session.id)) !== undefined)
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
  { sessions, observer, publicUrl }: Omit<SessionParts, 'now'>,
  { address, request, headers }: Exchange,
  principal: Principal,
): Promise<IssuedSession | undefined> {
  const former = findSessionToken(headers.cookie, isReachedByTls(request, publicUrl))
  const left = former === undefined ? undefined : await sessions.read(former)
  if (left !== undefined) await sessions.end(left.id)
  const begun = await sessions.begin(principal, address)
  if (begun !== undefined)
    observer['session.begun']?.({ session: begun.id, principal: principal.name, address, platform: principal.platform })
  return begun
}

export function withCookies(response: HttpResponse, cookies: string[]): HttpResponse {
  return { ...response, headers: { ...response.headers, 'set-cookie': cookies } }
}
