import { isJsonObject, type JsonObject, parseJson } from './json.ts'

/**
 * X-Broker-API-Originating-Identity: who the platform acts for. Never required (OID-11), and a broken one is recorded as
 * unreadable instead of refused (OID-12): the request is right without it. Personal data.
 */
export function parseOriginatingIdentity(header: string | undefined): JsonObject | undefined {
  if (header === undefined || header === '') return undefined
  const blank = header.indexOf(' ')
  const platform = blank < 0 ? header : header.slice(0, blank)
  const encoded = blank < 0 ? '' : header.slice(blank + 1).trim()
  const text = Buffer.from(encoded, 'base64').toString('utf8')
  const user = parseJson(text)
  return isJsonObject(user) ? { platform, user } : { platform, unreadable: true }
}
