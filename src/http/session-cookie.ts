import type { HttpRequest } from './message.ts'
import type { Session } from './sessions.ts'

/**
 * The cookie of the console. Its name says where it may come from: a browser takes `__Host-` and `__Secure-` only over TLS, so
 * that nobody on the way can plant one, and `__Host-` only from this host itself.
 */
const session = 'purser'
/** Of a sign-in that has begun. The page that it happens on leads back here, so a browser has to send it then. */
const signIn = 'purser-sign-in'
const prefixes = ['__Host-', '__Secure-'] as const
/** How long people may take to sign in, in seconds. */
const signInTime = 600

export interface CookieScope {
  /** Whether browsers reach the broker over TLS, as far as it knows. */
  readonly secure: boolean
  /** The path that the broker is under, such as `/` or `/broker`. */
  readonly path: string
}

/** `secure`: all that is good came over TLS. */
export function findSessionToken(cookies: string | undefined, secure: boolean): string | undefined {
  return findCookie(session, cookies, secure)
}

export function findSignInCookie(cookies: string | undefined, secure: boolean): string | undefined {
  return findCookie(signIn, cookies, secure)
}

function findCookie(name: string, cookies: string | undefined, secure: boolean): string | undefined {
  if (cookies === undefined) return undefined
  const found = new Map(cookies.split(';').map(each => splitAt(each.trim())))
  // One that came over TLS is worth more. Where all must, a plain one was planted.
  const secureNames = prefixes.map(prefix => `${prefix}${name}`)
  const names = secure ? secureNames : [...secureNames, name]
  return names.map(each => found.get(each)).find(token => token !== undefined)
}

function splitAt(cookie: string): [string, string] {
  const at = cookie.indexOf('=')
  return at < 0 ? [cookie, ''] : [cookie.slice(0, at), cookie.slice(at + 1)]
}

export function toSessionCookie(token: string, { expiresAt }: Session, now: number, scope: CookieScope): string {
  return toCookie(session, token, Math.max(0, Math.floor((expiresAt - now) / 1000)), scope)
}

/** Makes the browser forget the session, under each name that it may have. */
export function endSessionCookies(scope: CookieScope): string[] {
  return [
    toCookie(session, '', 0, scope),
    ...(scope.secure ? [toCookie(session, '', 0, { ...scope, secure: false })] : []),
  ]
}

export function toSignInCookie(kept: string, scope: CookieScope): string {
  return toCookie(signIn, kept, signInTime, scope)
}

export function endSignInCookie(scope: CookieScope): string {
  return toCookie(signIn, '', 0, scope)
}

function toCookie(name: string, value: string, seconds: number, { secure, path }: CookieScope): string {
  const prefix = secure ? prefixes[path === '/' ? 0 : 1] : ''
  const site = name === signIn ? 'Lax' : 'Strict'
  const rest = `Path=${path}; Max-Age=${seconds}; HttpOnly; SameSite=${site}${secure ? '; Secure' : ''}`
  return `${prefix}${name}=${value}; ${rest}`
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
