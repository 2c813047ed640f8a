import { BrokerError } from '../protocol/errors.ts'
import { deepestJson, hasInfinity, isJsonObject, type Json, type JsonObject, nestsTooDeep } from '../protocol/json.ts'
import { malformed, readOrRefuse } from '../protocol/request-fields.ts'
import type { HttpRequest } from './message.ts'

/** CT-02 to CT-04: the body is a JSON object, also where the request has no Content-Type; everything else is a 400. `whenEmpty`: it may be left out. */
export async function readJsonObject(request: HttpRequest, limit: number, whenEmpty?: JsonObject): Promise<JsonObject> {
  const type = request.headers['content-type']
  if (type !== undefined && type !== '' && !isJson(type)) throw malformed('Content-Type must be application/json')
  const bytes = await request.body(limit)
  const text = readOrRefuse(() => utf8.decode(bytes), 'the body is not UTF-8')
  if (text.trim() === '' && whenEmpty !== undefined) return whenEmpty
  if (text.trim() === '') throw malformed('the body is empty; send a JSON object')
  if (nestsTooDeep(text)) throw malformed(`the body is nested deeper than ${deepestJson} levels`)
  const body: Json = readOrRefuse(() => JSON.parse(text), 'the body is not valid JSON')
  if (!isJsonObject(body)) throw malformed('the body must be a JSON object')
  if (hasInfinity(body)) throw tooLargeNumber()
  return body
}

function isJson(type: string): boolean {
  const media = type.split(';', 1)[0]?.trim().toLowerCase() ?? ''
  return media === 'application/json' || media.endsWith('+json')
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

export function tooLargeNumber(): BrokerError {
  return malformed('the body has a number that is too large; send one up to 1.7e308, or a text')
}

export function tooLarge(limit: number): BrokerError {
  return new BrokerError('PayloadTooLarge', `The request's body is larger than the allowed ${limit} bytes.`)
}
