import type { Snapshot, Verdict } from '../domain/change.ts'
import { checkGates } from '../domain/gate.ts'
import type { Instance } from '../domain/instance.ts'
import type { Accepted, Intent } from '../domain/intent.ts'
import { newId } from '../domain/new-id.ts'
import type { Operation } from '../domain/operation.ts'
import { OverQuotaError, withinOf } from '../domain/quota.ts'
import { hashRequest } from '../domain/request-hash.ts'
import { operationFields } from '../engine/operation-fields.ts'
import type { Target } from '../ledger.ts'
import type { JsonObject } from '../protocol/json.ts'
import type { Plan } from '../protocol/offering.ts'
import type { OpenSpan } from '../tracer.ts'
import type { BrokerContext, Caller } from './context.ts'
import { quotaOf } from './quotas.ts'
import { type ResolvedService, type SettableAction, sweepDelay } from './resolve-services.ts'

/** The part of every intent that does not depend on the endpoint. `attributes` is what makes two requests equal. */
export function createIntent(
  broker: BrokerContext,
  caller: Caller,
  request: {
    readonly action: SettableAction
    readonly instanceId: string
    readonly service: ResolvedService
    readonly plan?: Plan
    readonly attributes?: JsonObject
    readonly acceptsIncomplete: boolean
  },
): Intent {
  const { mode, timeout } = request.service.actions[request.action]
  const waited = request.action === 'update' && (mode === 'never' || !request.acceptsIncomplete)
  // UPD-22: an update whose request was answered with a 5xx must not be applied later, so it ends before the request does.
  const waitingLimit = waited ? broker.settings.server.syncTimeout * 0.9 : timeout
  const limited = Math.min(timeout, pollingLimit(request.plan), waitingLimit)
  return {
    operationId: newId(broker.clock.now()),
    platform: caller.platform,
    instanceId: request.instanceId,
    serviceId: request.service.offering.id,
    requestHash: hashRequest(request.attributes ?? {}),
    acceptsIncomplete: request.acceptsIncomplete,
    mode,
    timeout: limited,
    landsWithin: sweepDelay(request.service),
    sweepDelay: Math.min(sweepDelay(request.service), pollingLimit(request.plan) - limited),
    identity: caller.identity,
    requestId: caller.requestId,
    principal: caller.principal?.name,
    address: caller.address,
    traceparent: startAccept(broker, caller, request.action) ?? caller.traceparent,
    unknownService: request.service.isPlaceholder ? (broker.registered === undefined ? 'left' : 'later') : undefined,
  }
}

/** Spans of what is being accepted, until that is known. What is not accepted has none. */
const accepting = new WeakMap<object, OpenSpan>()

/** The context that the operation is stored with. */
function startAccept({ tracer }: BrokerContext, caller: Caller, action: SettableAction): string | undefined {
  if (tracer === undefined) return undefined
  const parent = caller.traceparent ?? undefined
  const span = tracer.start({ name: `accept ${action}`, kind: 'producer', parent })
  accepting.set(caller, span)
  return span.traceparent
}

/** DUR-04: the operation ends before the platform stops polling for it, so that both see the same result. */
function pollingLimit(plan: Plan | undefined): number {
  if (plan?.maximumPollingDuration === undefined) return Number.POSITIVE_INFINITY
  const limit = plan.maximumPollingDuration * 1000
  return Math.max(limit - 60_000, limit / 2)
}

/** A 202 about an instance: which operation to poll, and where its dashboard will be. */
export interface AcceptedInstance {
  readonly kind: 'accepted'
  readonly instance: Instance
  readonly operation: string
  readonly dashboardUrl?: string
}

/** Lets the ledger decide, and tells which operation it has accepted and which ones had to make room for it. */
export async function accept<Answer>(
  broker: Pick<BrokerContext, 'store' | 'observer' | 'offerPlace' | 'gates' | 'settings'>,
  target: Target,
  decide: (snapshot: Snapshot) => Verdict<Answer>,
  caller?: Pick<Caller, 'platform' | 'requestId' | 'traceparent' | 'onOperation'>,
): Promise<Answer> {
  const { store, observer, offerPlace, gates, settings } = broker
  // Operators act all the same.
  const quota = caller && quotaOf(settings.quotas, caller.platform)
  let operations: readonly Operation[] = []
  let instance: Instance | undefined
  let known: readonly (string | undefined)[] = []
  const asked = (snapshot: Snapshot) => {
    // A store may ask again after a conflict: the last answer is the one that was written.
    const verdict = decide(snapshot)
    operations = verdict.change?.operations ?? []
    known = [snapshot.operation?.id, snapshot.bindingOperation?.id]
    instance = verdict.change?.instance ?? snapshot.instance
    const begun = closed.length === 0 ? undefined : findBegun(operations, known)
    if (begun !== undefined) checkGates(closed, begun, begun.input.planId ?? instance?.planId)
    const { change } = verdict
    const within = quota && caller && change && withinOf(quota, caller.platform, snapshot, change)
    return within === undefined ? verdict : { ...verdict, change: { ...change, within } }
  }
  // What platforms ask for anew may be refused; what was accepted goes on, and operators act all the same.
  const closed = caller === undefined ? [] : await gates.current()
  const place = offerPlace()
  const answer = await store.accept(target, asked, place).catch(error => {
    place?.giveBack()
    if (error instanceof OverQuotaError && caller !== undefined) {
      const { platform, requestId, traceparent } = caller
      observer['request.limited']?.({ limit: error.kind, platform, requestId, traceparent })
    }
    throw error
  })
  tell(observer, { answer, operations, known, instance, caller })
  place?.begin()
  return answer
}

interface Told {
  readonly answer: unknown
  readonly operations: readonly Operation[]
  /** Ids of those that were there before. */
  readonly known: readonly (string | undefined)[]
  readonly instance: Instance | undefined
  readonly caller: Pick<Caller, 'traceparent' | 'onOperation'> | undefined
}

function findBegun(operations: readonly Operation[], known: readonly (string | undefined)[]): Operation | undefined {
  return operations.find(({ id, state }) => state === 'queued' && !known.includes(id))
}

function tell(observer: BrokerContext['observer'], { answer, operations, known, instance, caller }: Told): void {
  const { operation: answered, wait = false } = (answer ?? {}) as Partial<Accepted>
  if (answered !== undefined) caller?.onOperation?.(answered.id)
  const accepted = findBegun(operations, known)
  if (accepted === undefined) return
  for (const operation of operations)
    if (operation.state === 'superseded')
      observer['operation.superseded']?.({ ...operationFields(operation, instance), supersededBy: accepted.id })
  const { id, instanceId, bindingId } = accepted
  const attributes = { 'purser.operation': id, 'purser.instance': instanceId, 'purser.binding': bindingId }
  if (caller !== undefined) accepting.get(caller)?.end({ attributes })
  // A sweep that stands alone again was asked for by nobody, and one by hand is told of as such.
  if (accepted.action === 'sweep') return
  observer['operation.accepted']?.({
    deadlineAt: accepted.deadlineAt,
    synchronous: wait,
    ...operationFields(accepted, instance),
  })
}
