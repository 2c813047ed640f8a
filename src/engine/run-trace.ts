import { createHash } from 'node:crypto'
import type { Operation } from '../domain/operation.ts'
import type { OpenSpan, SpanLink, Tracer } from '../tracer.ts'
import { operationFields } from './operation-fields.ts'

/**
 * The span of one run: from a claim to a park, a hand-back or an end. Its trace is worked out from what the claim has written,
 * the operation and its attempt. So the run after it can point to it, also where its holder crashed and nothing of it was
 * ever sent, and nothing more has to be stored.
 */
export function startRun(tracer: Tracer, operation: Operation): OpenSpan {
  const { id, attempt, traceparent, adminTraceparent, fence } = operation
  const { continuous } = tracer
  const links: SpanLink[] = []
  if (traceparent !== undefined && !continuous) links.push({ traceparent, relation: 'origin' })
  if (attempt > 1 && !continuous) links.push({ traceparent: runContext(id, attempt - 1), relation: 'previous' })
  if (adminTraceparent !== undefined) links.push({ traceparent: adminTraceparent, relation: 'admin' })
  return tracer.start({
    name: `run ${operation.action}`,
    kind: 'consumer',
    parent: continuous && traceparent !== undefined ? traceparent : runContext(id, attempt),
    links,
    attributes: { ...spanAttributes(operation), 'purser.attempt': attempt, 'purser.fence': fence },
  })
}

/** What was done in earlier runs is one note, not a span for each step. */
export function noteSkipped(span: OpenSpan | undefined, steps: readonly string[]): void {
  if (steps.length > 0) span?.note('steps skipped', { count: steps.length, steps: steps.join(', ') })
}

export function spanAttributes(operation: Operation) {
  const { operationId, action, instanceId, bindingId, serviceId, requestId } = operationFields(operation)
  return {
    'purser.operation': operationId,
    'purser.action': action,
    'purser.instance': instanceId,
    'purser.binding': bindingId,
    'purser.service': serviceId,
    'purser.request': requestId,
  }
}

function runContext(operationId: string, attempt: number): string {
  const hash = createHash('sha256').update(`${operationId}/${attempt}`).digest('hex')
  return `00-${hash.slice(0, 32)}-${hash.slice(32, 48)}-01`
}

interface StepCall {
  readonly operation: Operation
  readonly step: string
  readonly calls: number
}

/** One span for each call of a step. */
export async function traceStep<T>(
  tracer: Tracer | undefined,
  { operation, step, calls }: StepCall,
  call: () => Promise<T>,
): Promise<T> {
  if (tracer === undefined) return call()
  const attributes = { 'purser.operation': operation.id, 'purser.step': step, 'purser.calls': calls }
  const span = tracer.start({ name: `step ${step}`, kind: 'internal', attributes })
  try {
    const output = await tracer.within(span, call)
    span.end()
    return output
  } catch (error) {
    span.end({ error })
    throw error
  }
}
