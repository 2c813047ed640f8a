import type { Session } from '../authenticator.ts'
import type { HttpRequest } from './message.ts'

/**
 * The cookie of the console. Its name says where it may come from: a browser takes `__Host-` and `__Secure-` only over TLS, so
 * that nobody on the way can plant one, and `__Host-` only from this host itself.
 */
const plainName = 'purser'
const secureNames = ['__Host-purser', '__Secure-purser']

export interface CookieScope {
  /** Whether browsers reach the broker over TLS, as far as it knows. */
  readonly secure: boolean
  /** The path that the broker is under, such as `/` or `/broker`. */
  readonly path: string
}

/** `secure`: all that is good came over TLS. */
export function findSessionToken(cookies: string | undefined, secure: boolean): string | undefined {
  if (cookies === undefined) return undefined
  const found = new Map(cookies.split(';').map(each => splitAt(each.trim())))
  // One that came over TLS is worth more. Where all must, a plain one was planted.
  const names = secure ? secureNames : [...secureNames, plainName]
  return names.map(name => found.get(name)).find(token => token !== undefined)
}

function splitAt(cookie: string): [string, string] {
  const at = cookie.indexOf('=')
  return at < 0 ? [cookie, ''] : [cookie.slice(0, at), cookie.slice(at + 1)]
}

export function toSessionCookie(token: string, { expiresAt }: Session, now: number, scope: CookieScope): string {
  return toCookie(token, Math.max(0, Math.floor((expiresAt - now) / 1000)), scope)
}

/** Makes the browser forget the session, under each name that it may have. */
export function endSessionCookies(scope: CookieScope): string[] {
  return [toCookie('', 0, scope), ...(scope.secure ? [toCookie('', 0, { ...scope, secure: false })] : [])]
}

function toCookie(value: string, seconds: number, { secure, path }: CookieScope): string {
  const name = secure ? secureNames[path === '/' ? 0 : 1] : plainName
  return `${name}=${value}; Path=${path}; Max-Age=${seconds}; HttpOnly; SameSite=Strict${secure ? '; Secure' : ''}`
}

export function isReachedByTls({ encrypted }: HttpRequest, publicUrl: string | undefined): boolean {
  return encrypted || isHttps(publicUrl)
}

/** Of a cookie that is set. `origin` is what the browser says of its page: whoever ends TLS before the broker changes the rest. */
export function scopeOf(request: HttpRequest, publicUrl: string | undefined): CookieScope {
  const { headers, mount = '' } = request
  const secure = isReachedByTls(request, publicUrl) || isHttps(headers.origin)
  return { secure, path: (publicUrl === undefined ? mount : new URL(publicUrl).pathname).replace(/\/+$/, '') || '/' }
}

function isHttps(url: string | undefined): boolean {
  return url?.startsWith('https://') === true
}
