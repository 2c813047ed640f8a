import * as api from '@opentelemetry/api'
import { context, type Link, propagation, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base'
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { createTracer } from '../../src/observer/traces.ts'
import { traceRuntime } from '../../src/running/open-tracer.ts'
import { createMemoryStore } from '../../src/store/memory/index.ts'
import { createCrashableStore } from '../../src/testing/crash-points.ts'
import { startTestBroker, type TestBrokerOptions } from '../../src/testing/test-broker.ts'
import { createVirtualClock } from '../../src/testing/virtual-clock.ts'
import { ids, incomplete, minutes, seconds, serviceOf, takes } from '../engine/world.ts'

const exporter = new InMemorySpanExporter()

beforeAll(() => {
  trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }))
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
})
beforeEach(() => exporter.reset())
afterAll(() => {
  trace.disable()
  context.disable()
  propagation.disable()
})

const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
const clientTrace = traceparent.split('-')[1]
const settings = (mode: 'off' | 'linked' | 'continuous') => ({ osb: { requireOrgAndSpace: false }, traces: { mode } })

const named = (name: string) => exporter.getFinishedSpans().filter(span => span.name === name)
const one = (name: string): ReadableSpan => {
  const [span, ...others] = named(name)
  if (span === undefined || others.length > 0) throw new Error(`there are ${named(name).length} spans "${name}"`)
  return span
}
const relations = (span: ReadableSpan | undefined) =>
  span?.links.map(({ attributes }) => attributes?.['purser.relation'])
const contextOf = (link: Link | undefined) => link?.context

function platform(broker: Awaited<ReturnType<typeof startTestBroker>>) {
  const send = (input: string | URL | Request, init?: RequestInit) => {
    const request = new Request(input, init)
    request.headers.set('traceparent', traceparent)
    request.headers.set('x-broker-api-request-identity', 'request-1')
    return broker.fetch(request)
  }
  return broker.createClient({ fetch: send as typeof fetch })
}

/** Two calls of the first step fail; the second step is under way when the process dies. Another replica ends it. */
async function provisionWithTroubles(mode: 'linked' | 'continuous') {
  const clock = createVirtualClock()
  const ledger = createMemoryStore({ clock })
  const { store, crash } = createCrashableStore(ledger)
  let failures = 2
  let dies = true
  const seen: (string | undefined)[] = []
  const service = serviceOf({
    async provision(ctx) {
      await ctx.step('create', () => {
        if (failures-- > 0) throw new Error('not now, canary-7f3a')
      })
      await ctx.step('start', async () => {
        seen.push(trace.getActiveSpan()?.spanContext().traceId)
        if (dies) await takes(clock, minutes(5))
      })
    },
  })
  const options: TestBrokerOptions = { clock, services: [service], settings: settings(mode), random: () => 0.5 }
  const first = await startTestBroker({ ...options, store })
  const { body } = await platform(first).provision('i', ids, incomplete)
  await clock.advance(seconds(10))
  crash()
  dies = false
  const second = await startTestBroker({ ...options, store: ledger })
  onTestFinished(() => second.stop())
  await clock.advance(minutes(2))
  return { operation: String(body.operation), seen }
}

describe('traces, linked', () => {
  it('show one provision with two retries and a takeover', async () => {
    const { operation, seen } = await provisionWithTroubles('linked')
    const server = one('PUT')
    expect(server.kind).toBe(SpanKind.SERVER)
    expect(server.spanContext().traceId).toBe(clientTrace)
    expect(server.parentSpanContext?.spanId).toBe(traceparent.split('-')[2])
    expect(server.attributes).toMatchObject({
      'purser.request': 'request-1',
      'purser.operation': operation,
      'http.route': '/v2/service_instances/:instance',
      'http.response.status_code': 202,
    })

    const accepted = one('accept provision')
    expect(accepted.kind).toBe(SpanKind.PRODUCER)
    expect(accepted.parentSpanContext?.spanId).toBe(server.spanContext().spanId)

    // The third run died with its process: it never told of itself. The fourth took over.
    const runs = named('run provision')
    expect(runs.map(({ attributes }) => attributes['purser.attempt'])).toEqual([1, 2, 4])
    expect(runs.map(({ kind }) => kind)).toEqual([SpanKind.CONSUMER, SpanKind.CONSUMER, SpanKind.CONSUMER])
    expect(new Set(runs.map(run => run.spanContext().traceId)).size).toBe(3)
    expect(runs.map(relations)).toEqual([['origin'], ['origin', 'previous'], ['origin', 'previous']])
    for (const run of runs) expect(contextOf(run.links[0])?.spanId).toBe(accepted.spanContext().spanId)
    expect(contextOf(runs[1]?.links[1])?.traceId).toBe(runs[0]?.spanContext().traceId)
    // The link of the takeover resolves: steps of the run that died were told, and they are in that trace.
    const created = named('step create')
    const crashed = contextOf(runs[2]?.links[1])?.traceId
    expect(created.map(({ attributes }) => attributes['purser.calls'])).toEqual([1, 2, 3])
    expect(created.map(step => step.spanContext().traceId)).toEqual([
      runs[0]?.spanContext().traceId,
      runs[1]?.spanContext().traceId,
      crashed,
    ])
    expect(created.map(({ status }) => status.code)).toEqual([
      SpanStatusCode.ERROR,
      SpanStatusCode.ERROR,
      SpanStatusCode.UNSET,
    ])
    expect(created[0]?.parentSpanContext?.spanId).toBe(runs[0]?.spanContext().spanId)

    // The call of the process that is cut off was given up there, too.
    const started = named('step start').find(({ status }) => status.code === SpanStatusCode.UNSET)
    if (started === undefined) throw new Error('no step has succeeded')
    expect(started.kind).toBe(SpanKind.INTERNAL)
    expect(started.parentSpanContext?.spanId).toBe(runs[2]?.spanContext().spanId)
    expect(seen.at(-1)).toBe(started.spanContext().traceId)
    expect(runs[2]?.events).toMatchObject([{ name: 'steps skipped', attributes: { count: 1, steps: 'create' } }])

    const whole = one('operation provision')
    expect(whole.parentSpanContext?.spanId).toBe(accepted.spanContext().spanId)
    expect(whole.attributes).toMatchObject({ 'purser.outcome': 'succeeded', 'purser.operation': operation })
    expect(whole.endTime[0] - whole.startTime[0]).toBeGreaterThan(30)
    const told = exporter
      .getFinishedSpans()
      .map(({ name, attributes, events, status }) => ({ name, attributes, events, status }))
    expect(JSON.stringify(told)).not.toContain('canary')
  })

  it('have a link to the operator who made it run', async () => {
    const service = serviceOf({
      provision: async ({ wait, operation }) => (operation.attempt === 1 ? wait('1h', 'later') : {}),
    })
    const broker = await startTestBroker({ services: [service], settings: settings('linked') })
    onTestFinished(() => broker.stop())
    const { body } = await broker.client.provision('i', ids, incomplete)
    await broker.clock.advance(seconds(1))
    const path = `/admin/operations/${body.operation}/run-now`
    const headers = { 'content-type': 'application/json' }
    const answer = await broker.fetch(new Request(`${broker.url}${path}`, { method: 'POST', body: '{}', headers }))
    expect(answer.status).toBeLessThan(300)
    await broker.clock.advance(seconds(5))
    const again = named('run provision')[1]
    expect(relations(again)).toEqual(['origin', 'previous', 'admin'])
    expect(contextOf(again?.links[2])?.spanId).toBe(one('POST').spanContext().spanId)
  })

  it('have no span for what was not accepted', async () => {
    const broker = await startTestBroker({ services: [serviceOf({})], settings: settings('linked') })
    onTestFinished(() => broker.stop())
    await broker.client.provision('i', ids, incomplete)
    await broker.clock.advance(seconds(5))
    await broker.client.provision('i', ids, incomplete)
    expect(named('PUT')).toHaveLength(2)
    expect(named('accept provision')).toHaveLength(1)
  })
})

describe('traces, continuous', () => {
  it('are one for a whole operation', async () => {
    await provisionWithTroubles('continuous')
    const spans = exporter.getFinishedSpans()
    expect(new Set(spans.map(span => span.spanContext().traceId))).toEqual(new Set([clientTrace]))
    const accepted = one('accept provision')
    for (const run of named('run provision')) expect(run.parentSpanContext?.spanId).toBe(accepted.spanContext().spanId)
  })
})

describe('traces, off', () => {
  it('make no span, and keep what the client sent', async () => {
    const seen: (string | undefined)[] = []
    const service = serviceOf({ provision: async ({ operation }) => void seen.push(operation.traceparent) })
    const broker = await startTestBroker({ services: [service], settings: settings('off') })
    onTestFinished(() => broker.stop())
    const { body } = await platform(broker).provision('i', ids, incomplete)
    await broker.clock.advance(seconds(5))
    expect(exporter.getFinishedSpans()).toEqual([])
    expect((await broker.store.operation(String(body.operation)))?.traceparent).toBe(traceparent)
    expect(seen).toEqual([traceparent])
  })
})

describe('a traced runtime', () => {
  it('has a CLIENT span for each call, under the step, and goes on as it was', async () => {
    const tracer = createTracer(api, false)
    class Fake {
      readonly type = 'process'
      readonly #name = 'n'
      async status() {
        return { kind: this.#name }
      }
      async start() {
        throw new RangeError('canary-7f3a')
      }
      async list() {
        return []
      }
    }
    const runtime = traceRuntime(new Fake() as never, tracer)
    const step = tracer.start({ name: 'step x', kind: 'internal' })
    await tracer.within(step, async () => {
      expect(await runtime.status('x')).toEqual({ kind: 'n' })
      await expect(runtime.start({} as never)).rejects.toThrow('canary')
      expect(await runtime.list()).toEqual([])
    })
    const spans = exporter.getFinishedSpans()
    expect(spans.map(({ name, kind }) => [name, kind])).toEqual([
      ['sandbox status', SpanKind.CLIENT],
      ['sandbox start', SpanKind.CLIENT],
    ])
    expect(spans[1]).toMatchObject({
      status: { code: SpanStatusCode.ERROR },
      attributes: { 'error.type': 'RangeError' },
    })
    expect(spans[0]?.parentSpanContext?.spanId).toBe(step.traceparent.split('-')[2])
  })
})
