import type { ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { HttpResponse } from '../message.ts'

type Pieces = NonNullable<HttpResponse['stream']>

/** Until the stream ends or the client hangs up; what is not taken off is not asked for. Does not throw. */
export async function sendStream(response: ServerResponse, stream: Pieces): Promise<void> {
  response.flushHeaders()
  // A stream that breaks ends its connection: the client asks again.
  await pipeline(toReadable(stream), response).catch(() => response.destroy())
}

/** The client is gone: what makes the stream is told so. */
export function dropStream(stream: Pieces | undefined): void {
  if (stream !== undefined) toReadable(stream).destroy()
}

export function toReadable(stream: Pieces): Readable {
  return stream instanceof Readable ? stream : Readable.from(stream)
}
