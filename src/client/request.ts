import type { JsonObject } from '../protocol/json.ts'

/** Who caused a request (OID-06): sent as `<platform> <base64 of the user as JSON>`. */
export interface OriginatingIdentity {
  readonly platform: string
  readonly user: JsonObject
}

interface Credentials {
  readonly username?: string
  readonly password?: string
  readonly token?: string
}

export type Query = Readonly<Record<string, string | undefined>>
export type HeaderOverrides = Readonly<Record<string, string | undefined>>

/** Where a broker is, without the credentials its URL may carry, and those credentials. A prefix path is kept. */
export function parseBrokerUrl(text: string): { readonly url: string; readonly credentials: Credentials } {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw new TypeError('A broker URL looks like https://broker.example.com or http://127.0.0.1:8080/prefix.')
  }
  const credentials =
    url.username === ''
      ? {}
      : { username: decodeURIComponent(url.username), password: decodeURIComponent(url.password) }
  return { url: `${url.origin}${url.pathname.replace(/\/+$/, '')}`, credentials }
}

export function authorization({ username, password, token }: Credentials): string | undefined {
  if (token !== undefined) {
    if (username !== undefined) throw new TypeError('Give a token, or a user name and a password, not both.')
    return `Bearer ${token}`
  }
  if (username === undefined) return undefined
  return `Basic ${Buffer.from(`${username}:${password ?? ''}`, 'utf8').toString('base64')}`
}

export function encodeIdentity({ platform, user }: OriginatingIdentity): string {
  return `${platform} ${Buffer.from(JSON.stringify(user), 'utf8').toString('base64')}`
}

/** Joins path segments, each percent-encoded (URL-03). */
export function toPath(...segments: readonly string[]): string {
  // URLs fold these away, encoded or not, and the request would reach another resource.
  for (const segment of segments)
    if (['', '.', '..'].includes(segment))
      throw new TypeError(`An id cannot be ${segment === '' ? 'empty' : `"${segment}"`}: a URL cannot carry it.`)
  return segments.map(segment => `/${encodeURIComponent(segment)}`).join('')
}

export function toQuery(query: Query): string {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [`${encodeURIComponent(name)}=${encodeURIComponent(value)}`],
  )
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`
}

/** Later headers replace earlier ones, whatever their case; `undefined` takes one away. */
export function mergeHeaders(...layers: readonly HeaderOverrides[]): Record<string, string> {
  const merged = new Map<string, string>()
  for (const layer of layers) {
    for (const [name, value] of Object.entries(layer)) {
      if (value === undefined) merged.delete(name.toLowerCase())
      else merged.set(name.toLowerCase(), value)
    }
  }
  return Object.fromEntries(merged)
}
