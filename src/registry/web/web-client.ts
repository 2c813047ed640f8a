import { readFile } from 'node:fs/promises'
import { Agent as HttpAgent } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import { rootCertificates } from 'node:tls'
import { sleep } from '../../clock.ts'
import { pauseAfter } from '../../domain/retry.ts'
import { type Json, parseJson } from '../../protocol/json.ts'
import { valueAt } from '../../shape/place.ts'
import { RegistryError } from '../registry-error.ts'
import type { RegistryParts } from '../registry-type.ts'
import { isCertificate, type RegistrySettings } from '../settings.ts'
import { proxyFor } from './proxy.ts'
import { send, type Wire } from './send.ts'
import { showUrl, textOf, Unanswered, type WebReply, type WebRequest } from './web-request.ts'

type GetOptions = Pick<WebRequest, 'authorization' | 'accept' | 'limit' | 'mustBePublic'> & {
  /** Only whether it is there. */
  readonly method?: 'HEAD'
}

/** Asks by HTTP, repeats what may pass, and follows redirections. A reply of any status is a reply. */
export interface WebClient {
  get(url: URL, options: GetOptions): Promise<WebReply>
  /** Sends JSON. */
  post(url: URL, body: string, options: GetOptions): Promise<WebReply>
}

/** For one answer of a registry: its connections are closed when `use` is through. */
export async function withWebClient<T>(
  settings: Pick<RegistrySettings, 'ca' | 'skipVerifyTls' | 'privateHosts'>,
  { clock, proxy = {}, limits = {} }: RegistryParts,
  signal: AbortSignal,
  use: (web: WebClient) => Promise<T>,
): Promise<T> {
  const { timeout = 30_000, firstPause = 500 } = limits
  const [http, https] = [new HttpAgent({ keepAlive: true }), new HttpsAgent({ keepAlive: true })]
  let unanswered = 0
  let wire: Promise<Wire> | undefined

  const connect = async (): Promise<Wire> => {
    const ca = settings.ca === undefined ? undefined : [...rootCertificates, await readCa(settings.ca)]
    const tls = { rejectUnauthorized: !settings.skipVerifyTls, ca }
    return { http, https, tls, clock, timeout, signal, proxyFor: url => proxyFor(url, proxy) }
  }

  /** A server that has gone silent is not waited for once per image. */
  const once = async (request: WebRequest): Promise<WebReply | Unanswered> => {
    if (unanswered >= patience) throw new RegistryError(`${showUrl(request.url)}: not asked: it has stopped answering`)
    wire ??= connect()
    const mustBePublic = request.mustBePublic && !settings.privateHosts.includes(request.url.hostname)
    const reply = await send({ ...request, mustBePublic }, await wire)
    unanswered = reply instanceof Unanswered ? unanswered + 1 : 0
    return reply
  }

  const repeat = async (request: WebRequest): Promise<WebReply> => {
    for (let attempt = 1; ; attempt++) {
      const reply = await once(request)
      const isLast = attempt >= attempts || unanswered >= patience || signal.aborted
      const pause = isLast ? undefined : pauseBefore(reply, attempt, firstPause, clock.now())
      if (pause === undefined) {
        if (reply instanceof Unanswered) throw reply
        return reply
      }
      await sleep(clock, pause, signal)
      signal.throwIfAborted()
    }
  }

  const get = async (url: URL, options: GetOptions): Promise<WebReply> => {
    let request: WebRequest = { method: 'GET', ...options, url }
    for (let hops = 0; hops <= maxHops; hops++) {
      const reply = await repeat(request)
      const next = redirectionOf(reply, request.url)
      if (next === undefined) return reply
      // Credentials are for the server that they were meant for.
      const authorization = next.origin === request.url.origin ? request.authorization : undefined
      const mustBePublic = next.host === url.host ? options.mustBePublic : true
      request = { ...request, url: next, authorization, mustBePublic }
    }
    throw new RegistryError(`${showUrl(url)}: it redirects more than ${maxHops} times`)
  }

  try {
    return await use({ get, post: (url, body, options) => repeat({ ...options, method: 'POST', url, body }) })
  } finally {
    http.destroy()
    https.destroy()
  }
}

const attempts = 4
const patience = 10
const maxHops = 5
const maxPages = 1000

/** Longer than this nobody waits here: the registry is asked again at its next turn. */
const longestPause = 20_000

/** How long to wait before a request is repeated; undefined where the reply is one to keep. Attempts count from 1. */
export function pauseBefore(
  reply: Pick<WebReply, 'status' | 'headers'> | Unanswered,
  attempt: number,
  firstPause: number,
  now: number,
): number | undefined {
  const usual = pauseAfter(attempt, { initial: firstPause })
  if (reply instanceof Unanswered) return usual
  const { status, headers } = reply
  if (status !== 429 && (status < 500 || status === 501)) return undefined
  const asked = readRetryAfter(headers['retry-after'], now)
  if (asked !== undefined && asked > longestPause) return undefined
  return asked ?? usual
}

/** Seconds, or a date. */
function readRetryAfter(value: string | undefined, now: number): number | undefined {
  if (value === undefined) return undefined
  if (/^\d{1,9}$/.test(value)) return Number(value) * 1000
  const date = Date.parse(value)
  return Number.isNaN(date) ? undefined : Math.max(0, date - now)
}

/** What it means that a reply is not 200. */
export function refusalOf({ status }: WebReply, url: URL): string {
  return status === 401 || status === 403
    ? `${showUrl(url)}: it refuses access (${status}); add credentials that may read it, or correct them`
    : `${showUrl(url)}: it answered ${status}, not 200`
}

export function okReply(reply: WebReply, url: URL): WebReply {
  if (reply.status !== 200) throw new RegistryError(refusalOf(reply, url))
  return reply
}

/** The JSON of a reply that must be 200. */
export function jsonOf(reply: WebReply, url: URL): Json {
  const content = parseJson(textOf(okReply(reply, url)))
  if (content === undefined) throw new RegistryError(`${showUrl(url)}: the reply is not JSON, or is nested too deep`)
  return content
}

export function listIn(content: Json, key: string, url: URL): readonly Json[] {
  const list = valueAt(content, [key])
  if (!Array.isArray(list)) throw new RegistryError(`${showUrl(url)}: the reply is not a list of ${key}`)
  return list
}

export function namesIn(content: Json, key: string, url: URL): readonly string[] {
  return listIn(content, key, url)
    .map(item => valueAt(item, ['name']))
    .filter(name => typeof name === 'string')
}

/** The next page of a list, if its reply names one. Never elsewhere: the credentials are for this server. */
export function nextPage(target: unknown, from: URL): URL | undefined {
  if (typeof target !== 'string') return undefined
  if (!URL.canParse(target, from.href))
    throw new RegistryError(`${showUrl(from)}: the link to the next page is not a URL`)
  const url = new URL(target, from)
  if (url.hostname !== from.hostname) throw new RegistryError(`${showUrl(from)}: the next page is on another server`)
  // Behind a proxy that ends TLS, a server believes that it is asked by http.
  url.protocol = from.protocol
  url.port = from.port
  return url
}

/** The items of all pages. Throws where one page is missing: nobody must take a part for the whole. */
export async function readPages<T>(
  first: URL,
  read: (url: URL) => Promise<{ readonly items: readonly T[]; readonly next?: URL | undefined }>,
): Promise<readonly T[]> {
  const all: T[] = []
  const asked = new Set<string>()
  for (let url: URL | undefined = first; url !== undefined; ) {
    if (asked.has(url.href) || asked.size >= maxPages) throw new RegistryError(`${showUrl(url)}: the list has no end`)
    asked.add(url.href)
    const { items, next } = await read(url)
    for (const item of items) all.push(item)
    url = next
  }
  return all
}

function redirectionOf({ status, headers }: WebReply, from: URL): URL | undefined {
  if (![301, 302, 303, 307, 308].includes(status)) return undefined
  const location = headers.location
  if (location === undefined || !URL.canParse(location, from.href))
    throw new RegistryError(`${showUrl(from)}: it redirects to nowhere`)
  const to = new URL(location, from)
  if (to.protocol !== 'https:' && to.protocol !== from.protocol)
    throw new RegistryError(`${showUrl(from)}: it redirects from https to ${to.protocol}//, which is not followed`)
  return to
}

async function readCa(setting: string): Promise<string> {
  if (isCertificate(setting)) return setting
  return readFile(setting, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new RegistryError(`the certificates of ca, ${setting}, cannot be read (${error.code}); correct the path`)
  })
}
