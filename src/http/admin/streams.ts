import { type Clock, sleep } from '../../clock.ts'
import { BrokerError } from '../../protocol/errors.ts'
import type { JsonObject } from '../../protocol/json.ts'
import type { HttpResponse } from '../message.ts'
import { guarded } from '../respond.ts'

/** Each reads the ledger about once a second. */
const most = 100
/** Shorter than the patience of common proxies. */
const heartbeat = 15_000

/** One message to a page. `id` comes back as Last-Event-ID when the page has lost its connection. */
export interface Message {
  readonly event: string
  readonly id: string
  readonly data: JsonObject
}

/** What a stream works with: `pause` ends early when it is rung, or when the stream is closed. */
export interface Live {
  readonly signal: AbortSignal
  readonly pause: (ms: number) => Promise<void>
  readonly ring: () => void
}

/**
 * Answers that are never finished: server-sent events. They have a number of their own, since each stays open; requests are not
 * refused for them. All end when the process is about to stop, and pages come back to another one.
 */
export class Streams {
  readonly #clock: Clock
  readonly #closing: AbortSignal
  readonly #open = new Set<AbortController>()

  constructor(clock: Clock, closing: AbortSignal) {
    this.#clock = clock
    this.#closing = closing
    closing.addEventListener('abort', () => {
      for (const one of this.#open) one.abort()
    })
  }

  /** `produce` ends the stream by returning; what it throws breaks the connection. */
  answer(produce: (live: Live) => AsyncGenerator<Message, void>): HttpResponse {
    if (this.#closing.aborted)
      throw new BrokerError('ShuttingDown', 'This process is about to stop. Ask again.', { retryAfter: 1 })
    if (this.#open.size >= most)
      throw new BrokerError('Overloaded', `There are ${most} streams open, which is the most. Close a page, or wait.`, {
        retryAfter: 10,
      })
    return {
      status: 200,
      headers: streamHeaders,
      body: '',
      stream: { [Symbol.asyncIterator]: () => this.#begin(produce) },
    }
  }

  #begin(produce: (live: Live) => AsyncGenerator<Message, void>): AsyncIterator<string> {
    const ended = new AbortController()
    this.#open.add(ended)
    const pieces = this.#write(produce, ended.signal)
    const end = () => {
      ended.abort()
      this.#open.delete(ended)
    }
    return {
      async next() {
        try {
          const piece = await pieces.next()
          if (piece.done === true) end()
          return piece
        } catch (error) {
          end()
          throw error
        }
      },
      // The generator may be waiting: it is woken, and then returns by itself.
      async return() {
        end()
        await pieces.return(undefined)
        return { done: true, value: undefined }
      },
    }
  }

  async *#write(
    produce: (live: Live) => AsyncGenerator<Message, void>,
    signal: AbortSignal,
  ): AsyncGenerator<string, void> {
    const clock = this.#clock
    let bell = new AbortController()
    const ring = () => bell.abort()
    signal.addEventListener('abort', ring)
    const pause = async (ms: number) => {
      if (!signal.aborted) await sleep(clock, ms, bell.signal)
      bell = new AbortController()
    }
    yield 'retry: 2000\n\n'
    let spokenAt = clock.now()
    const messages = produce({ signal, pause, ring })
    let next = messages.next()
    for (;;) {
      const quiet = new AbortController()
      const silence = sleep(clock, Math.max(1, spokenAt + heartbeat - clock.now()), quiet.signal).then(() => undefined)
      const found = await Promise.race([next, silence])
      quiet.abort()
      if (signal.aborted || found?.done === true) break
      spokenAt = clock.now()
      if (found === undefined) yield ': still here\n\n'
      else {
        yield toText(found.value)
        next = messages.next()
      }
    }
    next.catch(() => {})
    await messages.return()
  }
}

const streamHeaders = {
  ...guarded,
  'content-type': 'text/event-stream',
  // nginx would keep it back until it ends.
  'x-accel-buffering': 'no',
}

/** JSON has no line breaks. */
function toText({ event, id, data }: Message): string {
  return `id: ${id}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`
}

/** Whether the client wants a stream. */
export function wantsStream(headers: Readonly<Record<string, string | undefined>>): boolean {
  return /\btext\/event-stream\b/.test(headers.accept ?? '')
}
