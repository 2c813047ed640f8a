import { randomUUID } from 'node:crypto'
import { type Observer, toError } from '../observer.ts'
import { trimBody } from '../protocol/answers.ts'
import { BrokerError, toErrorBody } from '../protocol/errors.ts'
import type { JsonObject } from '../protocol/json.ts'
import { StoreUnavailableError } from '../store.ts'
import type { HttpResponse } from './message.ts'

/** Every answer is a JSON object, the empty one included (ORPH-31). */
export function json(status: number, body: JsonObject, headers?: Readonly<Record<string, string>>): HttpResponse {
  const text = JSON.stringify(body)
  const bytes = Buffer.byteLength(text)
  return { status, headers: headers === undefined ? plain : { ...plain, ...headers }, body: text, bytes }
}

/**
 * On every answer but those of an author's own routes: nobody guesses what a body is, nobody learns from where somebody came,
 * and nothing is kept on the way, since most answers are for one reader only.
 */
export const guarded = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
} as const

const plain = { 'content-type': 'application/json', ...guarded }

export function redirect(location: string): HttpResponse {
  return { status: 302, headers: { ...guarded, location }, body: '' }
}

/** The request that gets the answer. */
interface Answered {
  readonly minor: number
  readonly observer: Observer
  readonly requestId: string | undefined
  readonly traceparent?: string | undefined
  readonly isOperators?: boolean
}

/**
 * The one place where an error becomes an answer. An error that nobody planned for is answered with a 500 that tells nothing
 * but a number, under which the log has the reason. Where the store cannot be reached it is a 503, so that the platform asks
 * again and does not take it for a result. Beside the answer, its code.
 */
export function respondToError(
  error: unknown,
  request: Answered,
): { readonly response: HttpResponse; readonly code: string } {
  const known = toBrokerError(error, request)
  const headers: Record<string, string> = {}
  if (known.retryAfter !== undefined) headers['retry-after'] = String(known.retryAfter)
  if (known.allow !== undefined) headers.allow = known.allow.join(', ')
  const response = request.isOperators
    ? json(known.status, toProblem(known), { ...headers, 'content-type': problemType })
    : json(known.status, trimBody('error', toErrorBody(known), request.minor), headers)
  return { response, code: known.code }
}

const problemType = 'application/problem+json'

/** RFC 9457, with our code as `error`. The OSB API has a form of its own. */
function toProblem({ code, status, message }: BrokerError): JsonObject {
  const words = code.replace(/(?<=[a-z])[A-Z]/g, letter => ` ${letter.toLowerCase()}`)
  return { type: `urn:purser:error:${code}`, title: words, status, detail: message, error: code }
}

/** The event carries the platform's own name for the request (RID-05). */
function toBrokerError(error: unknown, { observer, requestId, traceparent }: Answered): BrokerError {
  if (error instanceof BrokerError) return error
  if (error instanceof StoreUnavailableError) {
    observer['request.failed']?.({ error, status: 503, requestId, traceparent })
    return new BrokerError('StoreUnavailable', 'The broker cannot reach its store now. Repeat the request.', {
      retryAfter: 5,
    })
  }
  const incident = randomUUID()
  observer['request.failed']?.({ error: toError(error), status: 500, incident, requestId, traceparent })
  return new BrokerError('InternalError', `The broker failed. Its operator finds the reason under ${incident}.`)
}

/** 405 with what the path does take, in words and in the Allow header (RFC 9110, 15.5.6). */
export function methodNotAllowed(allow: readonly string[]): BrokerError {
  return new BrokerError('MethodNotAllowed', `This path takes ${allow.join(', ')}.`, { allow })
}
