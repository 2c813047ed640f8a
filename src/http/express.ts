import type { IncomingMessage, ServerResponse } from 'node:http'
import { type HttpBroker, type HttpResponse, sizeOf } from './message.ts'
import { NodeRequest } from './node/request.ts'
import { dropStream, sendStream } from './node/send-stream.ts'

/** A request of node:http. Its own type is not named, so that nobody needs the types of Node.js to compile `purser`. */
export interface ExpressRequest {
  readonly method?: string | undefined
  readonly url?: string | undefined
  readonly headers: object
  readonly socket: object
}

export interface ExpressResponse {
  readonly headersSent: boolean
  statusCode: number
  setHeader(name: string, value: string): unknown
  end(): unknown
}

/** For node:http, Connect, Express 4 and Express 5. */
export type ExpressHandler = (
  request: ExpressRequest,
  response: ExpressResponse,
  next?: (error?: unknown) => void,
) => void

/**
 * A broker as a handler: `app.use('/broker', toExpress(broker))`. It answers everything that reaches it, so mount it under
 * a path, or behind your own routes; `next` hears only of an answer that could not be sent. It may stand behind a body parser.
 * The broker starts with the first request, or with `broker.start()`, and ends with `broker.close()`.
 */
export function toExpress(broker: HttpBroker): ExpressHandler {
  const handler = (request: IncomingMessage, response: ServerResponse, next?: (error?: unknown) => void) => {
    broker
      .handle(new NodeRequest(request))
      .then(answer => send(response, answer))
      .catch(error => (next === undefined ? response.destroy(error) : next(error)))
  }
  return handler as ExpressHandler
}

/** Header by header: other handlers may have set some already, or may listen for the moment they are written. */
function send(response: ServerResponse, answer: HttpResponse): void {
  const { status, headers, body, stream } = answer
  if (response.destroyed || response.headersSent) {
    dropStream(stream)
    return
  }
  response.statusCode = status
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
  if (stream !== undefined) {
    void sendStream(response, stream)
    return
  }
  // What was not read of a long body is not worth keeping the connection for.
  if (status === 413) response.setHeader('connection', 'close')
  const sized = status === 204 || status === 304 || response.hasHeader('content-length')
  if (!sized) response.setHeader('content-length', sizeOf(answer))
  response.end(body)
}
