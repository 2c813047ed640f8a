/**
 * Traces, where they are on: spans of requests, runs and steps. Contexts are texts as W3C Trace Context has them
 * (`traceparent`), since they are stored with operations and sent to sandboxes.
 */
export interface Tracer {
  /** A whole operation is one trace, with that of its request; else each run has a trace of its own, with links. */
  readonly continuous: boolean
  /** Under what is active now, unless a parent is named. */
  start(span: SpanStart): OpenSpan
  /** What `body` begins is under the span. */
  within<T>(span: OpenSpan, body: () => T): T
}

export interface SpanStart {
  readonly name: string
  readonly kind: 'server' | 'producer' | 'consumer' | 'internal' | 'client'
  readonly attributes?: SpanAttributes
  /** The context that it is under. */
  readonly parent?: string | undefined
  readonly links?: readonly SpanLink[]
  /** Milliseconds since 1970; now, unless told otherwise. */
  readonly startedAt?: number
}

export type SpanAttributes = Readonly<Record<string, string | number | boolean | undefined>>

export interface SpanLink {
  readonly traceparent: string
  /** `origin`: the request; `previous`: the run before; `admin`: an operator's request that made it run. */
  readonly relation: 'origin' | 'previous' | 'admin'
}

/** One that is never ended is never seen. */
export interface OpenSpan {
  readonly traceparent: string
  note(name: string, attributes: SpanAttributes): void
  /** Of an error, its type is told and not its message, which may be anything. */
  end(how?: { readonly error?: unknown; readonly attributes?: SpanAttributes; readonly at?: number }): void
}

const wellFormed = /^[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/

/** What a client sent, if that is a trace context. */
export function readTraceparent(text: string | undefined): string | undefined {
  return text !== undefined && wellFormed.test(text) ? text : undefined
}

export function traceIdOf(traceparent: string | undefined): string | undefined {
  return traceparent === undefined ? undefined : wellFormed.exec(traceparent)?.[1]
}
