import { createHash } from 'node:crypto'
import type { BrokerContext } from '../../broker/context.ts'
import { readLog } from '../../broker/read-log.ts'
import { readTimeline, type TimelineEvent } from '../../broker/verbs/show.ts'
import { isActive, type Operation, progressOf } from '../../domain/operation.ts'
import { BrokerError } from '../../protocol/errors.ts'
import type { JsonObject } from '../../protocol/json.ts'
import type { HttpResponse } from '../message.ts'
import { guarded } from '../respond.ts'
import type { AdminContext, AdminRequest } from './admin-app.ts'
import type { Live, Message } from './streams.ts'
import { toBody } from './to-body.ts'

/** What another replica writes shows in the ledger only; the end of an operation is also told. */
const lookEvery = 1_000

interface Followed {
  readonly operation: Operation
  /** In their order, each with a version of its own: one that is seen again in another version has changed. */
  readonly parts: readonly { readonly version: string; readonly event: string; readonly data: JsonObject }[]
}

/** GET …/timeline as a stream: `timeline` for each line and each step as it is written, `state` when that changes, `end`. */
export function followTimeline(context: AdminContext, request: AdminRequest): Promise<HttpResponse> {
  return follow(context, request, async ({ store }, id) => {
    const { operation, events } = await readTimeline(store, id)
    return {
      operation,
      parts: events.map(each => ({ version: versionOf(each), event: 'timeline', data: toBody(each) })),
    }
  })
}

/** GET …/log as a stream: `run` for each run of a bundle, when it has ended. */
export function followLog(context: AdminContext, request: AdminRequest): Promise<HttpResponse> {
  return follow(context, request, async ({ store }, id) => {
    const { operation, runs } = await readLog(store, id)
    return { operation, parts: runs.map(run => ({ version: run.name, event: 'run', data: { ...run } })) }
  })
}

async function follow(
  { broker, streams }: AdminContext,
  { id, headers }: AdminRequest,
  look: (broker: BrokerContext, id: string) => Promise<Followed>,
): Promise<HttpResponse> {
  // What a page has seen is what it names when it comes back: any replica can go on from there.
  const seen = new Set((headers['last-event-id'] ?? '').split('.').filter(each => each !== ''))
  const first = await look(broker, id)
  // A page that asks again after the end is told so in the one way that keeps it from asking for ever.
  if (seen.has(keyOf(endOf(first.operation)))) return { status: 204, headers: guarded, body: '' }
  return streams.answer(live => tell(broker, { id, seen, first, look }, live))
}

interface Telling {
  readonly id: string
  /** Keys of what the page has seen. */
  readonly seen: Set<string>
  readonly first: Followed
  readonly look: (broker: BrokerContext, id: string) => Promise<Followed>
}

async function* tell(
  broker: BrokerContext,
  { id, seen, first, look }: Telling,
  live: Live,
): AsyncGenerator<Message, void> {
  const stopListening = broker.store.onWakeUp(wakeUp => {
    if (wakeUp.type === 'finished' && wakeUp.operationId === id) live.ring()
  })
  const place = () => [...seen].join('.')
  try {
    let told = ''
    for (let found: Followed | undefined = first; found !== undefined; found = await lookAgain(broker, id, look)) {
      for (const { version, event, data } of found.parts) {
        const key = keyOf(version)
        if (seen.has(key)) continue
        seen.add(key)
        yield { event, id: place(), data }
      }
      const { operation } = found
      const ended = !isActive(operation)
      const state = stateOf(operation)
      if (ended) seen.add(keyOf(endOf(operation)))
      if (told !== JSON.stringify(state)) yield { event: ended ? 'end' : 'state', id: place(), data: state }
      told = JSON.stringify(state)
      if (ended) return
      await live.pause(lookEvery)
      if (live.signal.aborted) return
    }
  } finally {
    stopListening()
  }
}

/** Undefined where it is gone: an observation leaves no row. */
async function lookAgain(broker: BrokerContext, id: string, look: Telling['look']): Promise<Followed | undefined> {
  try {
    return await look(broker, id)
  } catch (error) {
    if (error instanceof BrokerError && error.code === 'UnknownOperation') return undefined
    throw error
  }
}

function stateOf(operation: Operation): JsonObject {
  const { id, state, attempt, notBefore, description } = operation
  return toBody({
    operation: id,
    state,
    attempt,
    notBefore: state === 'queued' ? notBefore : undefined,
    waitingFor: isActive(operation) ? (description ?? progressOf(operation)) : undefined,
    description,
  })
}

/** A line of the history never changes; a step does, with each attempt. */
function versionOf(event: TimelineEvent): string {
  if (event.type === 'step' && 'attempts' in event) return `${event.name} ${event.attempts} ${event.state}`
  return `${event.at} ${event.type} ${'verb' in event ? event.verb : ''}`
}

function endOf({ state }: Operation): string {
  return `end ${state}`
}

/** Short, since a page sends back one for each thing that it has seen. */
function keyOf(version: string): string {
  return createHash('sha256').update(version).digest('base64url').slice(0, 6)
}
