import { RegistryError } from '../registry-error.ts'

export interface WebRequest {
  readonly method: 'GET' | 'HEAD' | 'POST'
  readonly url: URL
  readonly authorization?: string
  readonly accept?: string
  /** JSON. */
  readonly body?: string
  /** Bytes: a longer reply is refused. */
  readonly limit: number
  /** The URL came from a reply, not from the configuration: it may not lead into a private network. */
  readonly mustBePublic?: boolean
}

export interface WebReply {
  /** Who has answered: another server, where redirections were followed. */
  readonly url: URL
  readonly status: number
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly body: Uint8Array
}

export function textOf({ body }: WebReply): string {
  return Buffer.from(body).toString()
}

/** No whole reply has come. */
export class Unanswered extends RegistryError {}

/** Without a query or a user: they may hold secrets. */
export function showUrl({ origin, pathname }: URL): string {
  return `${origin}${pathname}`
}

/** Values of an authorization header; undefined where there is nothing to authorize with. */
export function basic(username: string | undefined, password = ''): string | undefined {
  return username === undefined ? undefined : `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`
}

export function bearer(token: string | undefined): string | undefined {
  return token === undefined ? undefined : `Bearer ${token}`
}
