import { type Clock, sleep } from '../clock.ts'
import type { OperationError, Step } from '../domain/operation.ts'
import type { ActionResult, Outcome, SettlePolicy } from '../domain/outcome.ts'
import { backOff, isExhausted } from '../domain/retry.ts'
import { settle } from '../domain/settle.ts'
import type { Claim, Ledger } from '../ledger.ts'
import type { Observer } from '../observer.ts'
import { isPermanent, messageOf, retryAfterMs, toOperationError } from './errors.ts'
import type { HeldLease } from './held-lease.ts'
import { Run } from './run.ts'
import { type FindWork, isWait, type Wait, type Work } from './work.ts'

export interface RunContext {
  readonly store: Ledger
  readonly clock: Clock
  readonly observer: Observer
  readonly random: () => number
  readonly findWork: FindWork
}

/** Leases lost in a row without a checkpoint before an operation is taken for the cause of the crashes. */
const poisonLosses = 10
const poisonParkMs = 10 * 60_000
const noDriverParkMs = 30_000
/** A service that is gone has no calls under way and nothing to observe. */
const noDriverPolicy: SettlePolicy = { sweepDelayMs: 0, sweepTimeoutMs: 0, sweepOperationId: '' }
/** The pseudo step that counts failures of an action outside its steps. */
const actionStep = '(action)'

/**
 * Runs a claimed operation until it is finished, parked or lost. Exactly one of finish, park and handBack is called, and
 * nothing is written after it.
 */
export async function runOperation(claim: Claim, held: HeldLease, context: RunContext): Promise<void> {
  const { operation } = claim
  const now = held.storeNow()
  const { store, observer } = context
  const isOver = now >= operation.deadlineAt
  const isPoison = claim.takenOver && operation.losses > poisonLosses
  const work = context.findWork(claim)
  // None of the author's code runs where it is unknown, or where it may be what kills the workers.
  if (isOver && (isPoison || work === undefined)) {
    const policy = work?.settlePolicy(now) ?? noDriverPolicy
    await finish(claim, held, context, policy, { kind: 'failed', error: timedOut(claim) }, true)
    return
  }
  if (isPoison) {
    observer.error('operation keeps killing its workers: put aside for 10 minutes', describeClaim(claim))
    const until = beforeDeadline(claim, now + poisonParkMs)
    await store.park(held.lease, { until, description: 'put aside after repeated crashes' })
    return
  }
  if (work === undefined) {
    observer.error('no service of this broker can do this operation', describeClaim(claim))
    const until = beforeDeadline(claim, now + noDriverParkMs)
    await store.park(held.lease, { until, description: 'waiting for a broker that knows the service' })
    return
  }
  const run = new Run({ claim, held, ...context, retry: work.retry, callTimeoutMs: work.callTimeoutMs })
  if (isOver) return fail(run, work, held, context, timedOut(claim), undefined)
  await perform(run, work, held, context)
}

async function perform(run: Run, work: Work, held: HeldLease, context: RunContext): Promise<void> {
  const { claim } = run
  const cancelDeadline = context.clock.after(claim.operation.deadlineAt - held.storeNow(), () => held.abort('deadline'))
  const ended = await settleFirst(held.signal, () => work.perform(run))
  cancelDeadline()
  await run.settled()
  if (held.why === 'deadline') return fail(run, work, held, context, timedOut(claim), undefined)
  if (held.why !== undefined) return letGo(run, held, context)
  if (run.retry !== undefined) return parkForRetry(run, held, context)
  if (run.interrupted) return comeAgain(run, work, held, context)
  if ('error' in ended) return judge(run, work, held, context, ended.error)
  if (isWait(ended.value)) return park(run, held, context, ended.value)
  const policy = work.settlePolicy(held.storeNow())
  const outcome: Outcome = { kind: 'succeeded', result: ended.value, description: run.description }
  if (await finish(claim, held, context, policy, outcome, run.unclean)) await work.afterwards?.(outcome)
}

/** A call that was cut off may still land: the ledger notes that there was one, as the claim after a crash does. */
async function letGo({ claim }: Run, held: HeldLease, { store }: RunContext): Promise<void> {
  await store.checkpoint(held.lease, { step: { ...failuresSoFar(claim), error: 'interrupted' } })
  await store.handBack(held.lease)
}

/**
 * The ledger did not answer in the middle of the action. That is no failure of the action and counts as none; what it did
 * last may not be noted, so the ledger is told, as after a stop, that there was something. Where it still does not answer,
 * the lease runs out.
 */
async function comeAgain({ claim }: Run, work: Work, held: HeldLease, { store, random }: RunContext): Promise<void> {
  const until = held.storeNow() + backOff(work.retry, 1, random())
  const step = { ...failuresSoFar(claim), error: 'interrupted' }
  await store.park(held.lease, { until: beforeDeadline(claim, until), description: 'interrupted, trying again', step })
}

type Ended = { readonly value: ActionResult | Wait } | { readonly error: unknown }

/** The action's end, or the abortion of its signal: an action that does not listen cannot hold the operation. */
function settleFirst(signal: AbortSignal, action: () => Promise<ActionResult | Wait>): Promise<Ended> {
  return new Promise(resolve => {
    const onAbort = () => resolve({ error: signal.reason })
    if (signal.aborted) return onAbort()
    signal.addEventListener('abort', onAbort, { once: true })
    Promise.resolve()
      .then(action)
      .then(
        value => resolve({ value }),
        error => resolve({ error }),
      )
      .finally(() => signal.removeEventListener('abort', onAbort))
  })
}

/** The action threw outside its steps, or let a final failure of a step through. */
async function judge(run: Run, work: Work, held: HeldLease, context: RunContext, error: unknown): Promise<void> {
  const { claim } = run
  const before = failuresSoFar(claim)
  const attempts = before.attempts + 1
  const now = held.storeNow()
  const exhausted = isExhausted(work.retry, attempts, before.startedAt, now)
  if (isPermanent(error) || exhausted) {
    const where = `The ${claim.operation.action}`
    return fail(run, work, held, context, toOperationError(error, where, run.nothingDone), error)
  }
  context.observer.warn('action failed, trying again', { ...describeClaim(claim), attempts, error: messageOf(error) })
  const step: Step = { ...before, attempts, error: messageOf(error) }
  const until = now + backOff(work.retry, attempts, context.random(), retryAfterMs(error))
  const description = `${claim.operation.action} failed ${attempts} time(s), trying again`
  await context.store.park(held.lease, { until: beforeDeadline(claim, until), description, step })
}

/** The failures of the action outside its steps, as its pseudo step has counted them. */
function failuresSoFar({ operation, steps }: Claim): Step {
  const before = steps.find(step => step.name === actionStep)
  const startedAt = before?.startedAt ?? operation.checkpointAt ?? operation.acceptedAt
  return { name: actionStep, state: 'failed', attempts: before?.attempts ?? 0, startedAt }
}

async function parkForRetry(run: Run, held: HeldLease, context: RunContext): Promise<void> {
  const { retry, claim } = run
  if (retry === undefined) return
  for (const step of retry.steps)
    context.observer.warn('step failed, trying again', {
      ...describeClaim(claim),
      step: step.name,
      attempts: step.attempts,
      error: step.error,
    })
  const [first, ...others] = retry.steps
  for (const step of others) await context.store.checkpoint(held.lease, { step })
  await context.store.park(held.lease, {
    until: beforeDeadline(claim, retry.until),
    description: retry.description,
    step: first,
  })
}

async function park(run: Run, held: HeldLease, context: RunContext, wait: Wait): Promise<void> {
  await context.store.park(held.lease, {
    until: beforeDeadline(run.claim, held.storeNow() + wait.waitMs),
    description: wait.description,
  })
}

async function fail(
  run: Run,
  work: Work,
  held: HeldLease,
  context: RunContext,
  error: OperationError,
  cause: unknown,
): Promise<void> {
  // What is told about the failure cannot keep the operation from ending.
  const told = new AbortController()
  const telling = work.onFailure(run, cause ?? new Error(error.message)).finally(() => told.abort())
  await Promise.race([telling, sleep(context.clock, work.callTimeoutMs, told.signal)])
  context.observer.warn('operation failed', {
    ...describeClaim(run.claim),
    reason: error.message,
    ...(cause instanceof Error ? { error: messageOf(cause.cause ?? cause) } : {}),
  })
  const unclean = run.unclean || held.why === 'deadline'
  await finish(run.claim, held, context, work.settlePolicy(held.storeNow()), { kind: 'failed', error }, unclean)
}

async function finish(
  claim: Claim,
  held: HeldLease,
  context: RunContext,
  policy: SettlePolicy,
  outcome: Outcome,
  unclean: boolean,
): Promise<boolean> {
  const finished = await context.store.finish(held.lease, snapshot => {
    const finishing = unclean ? { ...snapshot.finishing, unclean } : snapshot.finishing
    return settle({ ...snapshot, finishing }, outcome, policy)
  })
  if (!finished) await context.store.handBack(held.lease)
  else if (outcome.kind === 'succeeded') context.observer.info('operation succeeded', describeClaim(claim))
  return finished
}

function timedOut(claim: Claim): OperationError {
  const { operation } = claim
  const minutes = Math.round((operation.deadlineAt - operation.acceptedAt) / 60_000)
  const doing = operation.description === undefined ? '' : ` Last: ${operation.description}.`
  return { message: `The ${operation.action} did not end within its ${minutes} minute(s).${doing}` }
}

/** A parked operation is looked at when its time is over, so that it ends then. */
function beforeDeadline(claim: Claim, until: number): number {
  return Math.min(until, Math.max(claim.operation.deadlineAt, 0))
}

function describeClaim({ operation }: Claim) {
  return {
    operation: operation.id,
    action: operation.action,
    instance: operation.instanceId,
    binding: operation.bindingId,
    attempt: operation.attempt,
    request: operation.requestId,
  }
}
