import { readTraceparent, type Tracer } from '../tracer.ts'
import type { Exchange } from './exchange.ts'
import type { HttpResponse } from './message.ts'

/** Answers the request in a span of its own, under that of the client where it sent one. */
export async function traceRequest(
  tracer: Tracer,
  exchange: Exchange,
  answer: () => Promise<HttpResponse>,
): Promise<HttpResponse> {
  const { method, requestId } = exchange
  const parent = readTraceparent(exchange.headers.traceparent)
  const attributes = { 'http.request.method': method, 'purser.request': requestId }
  const span = tracer.start({ name: method, kind: 'server', parent, attributes })
  exchange.span = span
  const response = await tracer.within(span, answer)
  const { route, operationId } = exchange
  const known = { 'http.route': route, 'http.response.status_code': response.status, 'purser.operation': operationId }
  span.end({ attributes: known, error: response.status >= 500 ? String(response.status) : undefined })
  return response
}
