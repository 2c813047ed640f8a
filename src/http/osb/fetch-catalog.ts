import { createHash } from 'node:crypto'
import type { BrokerDefinition } from '../../author/broker-definition.ts'
import { whyUnknown } from '../../broker/unknown-catalog.ts'
import { toWireCatalog } from '../../catalog/wire-catalog.ts'
import { toError } from '../../observer.ts'
import { latestMinor } from '../../protocol/api-version.ts'
import { BrokerError } from '../../protocol/errors.ts'
import type { Offering } from '../../protocol/offering.ts'
import { inCode, typeName } from '../../shape/mistake.ts'
import { isObject } from '../../shape/place.ts'
import type { HttpResponse } from '../message.ts'
import { guarded } from '../respond.ts'
import type { Endpoint, OsbRequest } from './endpoint.ts'

export type PresentCatalog = NonNullable<BrokerDefinition['presentCatalog']>

/** GET /v2/catalog -> 200, or 304 where the platform has it already (CAT-07). 503 while there is none yet. Rendered once per version and change. */
export function createCatalogEndpoint(present: PresentCatalog | undefined): Endpoint {
  const rendered = new Map<number, Rendered>()
  let shown: readonly Offering[] | undefined
  return (broker, request) => {
    const { offerings } = broker.services
    const unknown = whyUnknown(broker)
    if (unknown !== undefined)
      throw new BrokerError('CatalogUnknown', `Repeat the request: ${unknown}.`, { retryAfter: 5 })
    if (present !== undefined) return answerPresented(present, offerings, request)
    if (offerings !== shown) rendered.clear()
    shown = offerings
    const minor = Math.min(request.minor, latestMinor)
    const catalog = rendered.get(minor) ?? render(offerings, minor)
    rendered.set(minor, catalog)
    return answer(catalog, request.ifNoneMatch)
  }
}

async function answerPresented(present: PresentCatalog, offerings: readonly Offering[], request: OsbRequest) {
  const { minor, caller, ifNoneMatch } = request
  return answer(render(await presented(present, offerings, caller.platform), minor), ifNoneMatch)
}

async function presented(present: PresentCatalog, offerings: readonly Offering[], platform: string) {
  const who = 'presentCatalog'
  try {
    return checkOfferings(await present(offerings, platform), who)
  } catch (thrown) {
    throw toError(thrown, who)
  }
}

function checkOfferings(shown: unknown, who: string): readonly Offering[] {
  const rule = `${who} must return a list of offerings`
  if (!Array.isArray(shown)) throw new TypeError(`${rule}, not ${inCode(typeName(shown))}`)
  const wrong = shown.findIndex(offering => !isObject(offering) || !Array.isArray(offering.plans))
  if (wrong >= 0) throw new TypeError(`${rule}, and number ${wrong + 1} is ${inCode(typeName(shown[wrong]))}`)
  return shown
}

interface Rendered {
  readonly etag: string
  readonly found: HttpResponse
}

function render(offerings: readonly Offering[], minor: number): Rendered {
  const text = JSON.stringify(toWireCatalog(offerings, minor))
  const etag = `"${createHash('sha256').update(text).digest('base64url').slice(0, 27)}"`
  // A short string is sent together with the headers in one write; a long one would be encoded anew each time.
  const body = text.length < 65_536 ? text : Buffer.from(text)
  // It may be kept, and is asked for again each time.
  const headers = { 'content-type': 'application/json', ...guarded, 'cache-control': 'no-cache', etag }
  return { etag, found: { status: 200, headers, body, bytes: Buffer.byteLength(text) } }
}

function answer({ etag, found }: Rendered, ifNoneMatch: string | undefined): HttpResponse {
  if (ifNoneMatch === undefined || !matches(ifNoneMatch, etag)) return found
  return { status: 304, headers: { ...guarded, 'cache-control': 'no-cache', etag }, body: '', bytes: 0 }
}

function matches(header: string, etag: string): boolean {
  return header === '*' || header.split(',').some(candidate => candidate.trim().replace(/^W\//, '') === etag)
}
