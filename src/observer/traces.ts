import type * as OpenTelemetry from '@opentelemetry/api'
import type { BrokerEvents, OperationFields } from '../events.ts'
import type { Observer } from '../observer.ts'
import type { OpenSpan, SpanAttributes, Tracer } from '../tracer.ts'

type Api = typeof OpenTelemetry

/** Whether an SDK is there. What is not of the API itself, such as a copy of another version, may be one. */
export function isListenedTo({ trace, ProxyTracerProvider }: Api): boolean {
  const provider = trace.getTracerProvider()
  return !(provider instanceof ProxyTracerProvider) || provider.getDelegateTracer('purser') !== undefined
}

/** Traces through the API of OpenTelemetry. Whoever wants to see them registers an SDK, before the broker starts. */
export function createTracer(api: Api, continuous: boolean): Tracer {
  const { trace, context, ROOT_CONTEXT, SpanKind, SpanStatusCode } = api
  const kinds = {
    server: SpanKind.SERVER,
    producer: SpanKind.PRODUCER,
    consumer: SpanKind.CONSUMER,
    internal: SpanKind.INTERNAL,
    client: SpanKind.CLIENT,
  }
  const own = trace.getTracer('purser')
  const spans = new WeakMap<OpenSpan, OpenTelemetry.Context>()

  return {
    continuous,
    start({ name, kind, attributes, parent, links = [], startedAt }) {
      const under = parent === undefined ? context.active() : trace.setSpanContext(ROOT_CONTEXT, toSpanContext(parent))
      const span = own.startSpan(
        name,
        {
          kind: kinds[kind],
          attributes,
          links: links.map(({ traceparent, relation }) => ({
            context: toSpanContext(traceparent),
            attributes: { 'purser.relation': relation },
          })),
          startTime: startedAt,
        },
        under,
      )
      const { traceId, spanId, traceFlags } = span.spanContext()
      const open: OpenSpan = {
        traceparent: `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`,
        note: (event, more) => void span.addEvent(event, more),
        end({ error, attributes: more, at } = {}) {
          if (more !== undefined) span.setAttributes(more)
          if (error !== undefined) {
            span.setAttribute('error.type', error instanceof Error ? error.name : typeof error)
            span.setStatus({ code: SpanStatusCode.ERROR })
          }
          span.end(at)
        },
      }
      spans.set(open, trace.setSpan(under, span))
      return open
    },
    within: (span, body) => context.with(spans.get(span) ?? context.active(), body),
  }
}

function toSpanContext(traceparent: string): OpenTelemetry.SpanContext {
  const [, traceId = '', spanId = '', flags = '0'] = traceparent.split('-')
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true }
}

/** Writes the span of a whole operation when it ends, under the request that asked for it. */
export function traceEnds(tracer: Tracer): Observer {
  const end = (event: OperationFields & { readonly totalMs?: number }, outcome: string, error?: unknown) => {
    const { operationId, action, instanceId, bindingId, serviceId, requestId, traceparent, acceptedAt } = event
    const attributes: SpanAttributes = {
      'purser.operation': operationId,
      'purser.instance': instanceId,
      'purser.binding': bindingId,
      'purser.service': serviceId,
      'purser.request': requestId,
      'purser.outcome': outcome,
    }
    const span = tracer.start({
      name: `operation ${action}`,
      kind: 'internal',
      parent: traceparent,
      startedAt: acceptedAt,
      attributes,
    })
    span.end({ error, at: event.totalMs === undefined ? undefined : acceptedAt + event.totalMs })
  }
  return {
    'operation.succeeded': (event: BrokerEvents['operation.succeeded']) => end(event, 'succeeded'),
    'operation.failed': (event: BrokerEvents['operation.failed']) => end(event, 'failed', event.error ?? 'failed'),
    'operation.superseded': (event: BrokerEvents['operation.superseded']) => end(event, 'superseded'),
  }
}
