import type { Authenticator, IssuedSession, Principal } from '../../authenticator.ts'
import type { Exchange } from '../exchange.ts'
import type { HttpResponse } from '../message.ts'
import { json, methodNotAllowed } from '../respond.ts'
import { endSessionCookies, scopeOf, toSessionCookie } from '../session-cookie.ts'
import { toTime } from './chores.ts'

export const sessionPath = '/admin/session'

/**
 * POST /admin/session: with credentials it begins a session, with the cookie of one it renews it. DELETE makes the browser
 * forget it. The answer never holds the token.
 */
export async function handleSession(
  { authenticator, publicUrl, now }: { authenticator: Authenticator; publicUrl?: string; now: number },
  exchange: Exchange,
  principal: Principal,
): Promise<HttpResponse> {
  exchange.route = sessionPath
  const { method, request, session } = exchange
  const scope = scopeOf(request, publicUrl)
  if (method === 'DELETE') return withCookies(json(200, {}), endSessionCookies(scope))
  if (method !== 'POST') throw methodNotAllowed(['POST', 'DELETE'])
  const { sessions } = authenticator
  const issued = session === undefined ? await sessions?.begin(principal) : await sessions?.renew(session)
  const { name, platform, roles } = principal
  const answer = json(200, { name, platform, roles: [...roles], expires_at: toTime((issued ?? session)?.expiresAt) })
  return issued === undefined ? answer : withCookies(answer, [cookieOf(issued)])

  function cookieOf(begun: IssuedSession): string {
    return toSessionCookie(begun.token, begun, now, scope)
  }
}

function withCookies(response: HttpResponse, cookies: string[]): HttpResponse {
  return { ...response, headers: { ...response.headers, 'set-cookie': cookies, 'cache-control': 'no-store' } }
}
