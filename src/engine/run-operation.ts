import { type Clock, sleep } from '../clock.ts'
import type { OperationError, Step } from '../domain/operation.ts'
import type { ActionResult, Outcome, SettlePolicy } from '../domain/outcome.ts'
import { backOff, isExhausted } from '../domain/retry.ts'
import { settle } from '../domain/settle.ts'
import type { ParkReason } from '../events.ts'
import type { Claim, Ledger, Parking } from '../ledger.ts'
import { type Observer, toError } from '../observer.ts'
import { isPermanent, messageOf, retryAfterMs, toOperationError } from './errors.ts'
import type { HeldLease } from './held-lease.ts'
import { attemptFields } from './operation-fields.ts'
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
  const { observer } = context
  observer['operation.started']?.({
    ...attemptFields(claim, held),
    queueMs: Math.max(0, now - operation.notBefore),
    takenOver: claim.takenOver,
  })
  const isOver = now >= operation.deadlineAt
  const isPoison = claim.takenOver && operation.losses > poisonLosses
  const work = context.findWork(claim)
  // None of the author's code runs where it is unknown, or where it may be what kills the workers.
  if (isOver && (isPoison || work === undefined)) {
    const policy = work?.settlePolicy(now) ?? noDriverPolicy
    await finish({ claim, held, context, policy, outcome: { kind: 'failed', error: timedOut(claim) }, unclean: true })
    return
  }
  if (isPoison) {
    observer['operation.poisonous']?.({ ...attemptFields(claim, held), losses: operation.losses })
    const description = 'put aside after repeated crashes'
    return park({ claim, held, context }, 'poisonous', { until: now + poisonParkMs, description })
  }
  if (work === undefined) {
    observer['operation.unknownService']?.(attemptFields(claim, held))
    const description = 'waiting for a broker that knows the service'
    return park({ claim, held, context }, 'unknownService', { until: now + noDriverParkMs, description })
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
  if (isWait(ended.value)) {
    const { waitMs, description } = ended.value
    return park({ claim, held, context }, 'wait', { until: held.storeNow() + waitMs, description })
  }
  const policy = work.settlePolicy(held.storeNow())
  const outcome: Outcome = { kind: 'succeeded', result: ended.value, description: run.description }
  if (await finish({ claim, held, context, policy, outcome, unclean: run.unclean })) await work.afterwards?.(outcome)
}

/** A call that was cut off may still land: the ledger notes that there was one, as the claim after a crash does. */
async function letGo({ claim }: Run, held: HeldLease, { store, observer }: RunContext): Promise<void> {
  const reason = held.why === 'stopping' ? 'stopping' : 'lost'
  observer['operation.handedBack']?.({ ...attemptFields(claim, held), reason })
  await store.checkpoint(held.lease, { step: { ...failuresSoFar(claim), error: 'interrupted' } })
  await store.handBack(held.lease)
}

/**
 * The ledger did not answer in the middle of the action. That is no failure of the action and counts as none; what it did
 * last may not be noted, so the ledger is told, as after a stop, that there was something. Where it still does not answer,
 * the lease runs out.
 */
async function comeAgain({ claim }: Run, work: Work, held: HeldLease, context: RunContext): Promise<void> {
  const until = held.storeNow() + backOff(work.retry, 1, context.random())
  const step = { ...failuresSoFar(claim), error: 'interrupted' }
  await park({ claim, held, context }, 'store', { until, description: 'interrupted, trying again', step })
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
  const delayMs = backOff(work.retry, attempts, context.random(), retryAfterMs(error))
  context.observer['action.failed']?.({
    ...attemptFields(claim, held),
    failures: attempts,
    delayMs,
    error: toError(error),
  })
  const step: Step = { ...before, attempts, error: messageOf(error) }
  const description = `${claim.operation.action} failed ${attempts} time(s), trying again`
  await park({ claim, held, context }, 'retry', { until: now + delayMs, description, step })
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
  const [first, ...others] = retry.steps
  for (const step of others) await context.store.checkpoint(held.lease, { step })
  await park({ claim, held, context }, 'retry', { until: retry.until, description: retry.description, step: first })
}

/** Gives the operation back to the ledger; it is due again at the deadline at the latest, so that it ends then. */
async function park({ claim, held, context }: Parked, reason: ParkReason, parking: Parking): Promise<void> {
  const until = Math.min(parking.until, Math.max(claim.operation.deadlineAt, 0))
  const { description } = parking
  if (await context.store.park(held.lease, { ...parking, until }))
    context.observer['operation.parked']?.({ ...attemptFields(claim, held), until, reason, description })
}

interface Parked {
  readonly claim: Claim
  readonly held: HeldLease
  readonly context: RunContext
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
  await finish({
    claim: run.claim,
    held,
    context,
    policy: work.settlePolicy(held.storeNow()),
    outcome: { kind: 'failed', error },
    unclean: run.unclean || held.why === 'deadline',
    cause,
  })
}

interface Finish extends Parked {
  readonly policy: SettlePolicy
  readonly outcome: Outcome
  readonly unclean: boolean
  /** What was thrown, where that is why it failed. */
  readonly cause?: unknown
}

async function finish({ claim, held, context, policy, outcome, unclean, cause }: Finish): Promise<boolean> {
  const { observer } = context
  const finished = await context.store.finish(held.lease, snapshot => {
    const finishing = unclean ? { ...snapshot.finishing, unclean } : snapshot.finishing
    return settle({ ...snapshot, finishing }, outcome, policy)
  })
  const fields = () => ({
    ...attemptFields(claim, held),
    totalMs: held.storeNow() - claim.operation.acceptedAt,
  })
  if (!finished) {
    observer['operation.handedBack']?.({ ...attemptFields(claim, held), reason: 'lost' })
    await context.store.handBack(held.lease)
  } else if (outcome.kind === 'succeeded') observer['operation.succeeded']?.(fields())
  else
    observer['operation.failed']?.({
      ...fields(),
      reason: outcome.error.message,
      error: cause === undefined ? undefined : toError(cause),
    })
  return finished
}

function timedOut(claim: Claim): OperationError {
  const { operation } = claim
  const minutes = Math.round((operation.deadlineAt - operation.acceptedAt) / 60_000)
  const doing = operation.description === undefined ? '' : ` Last: ${operation.description}.`
  return { message: `The ${operation.action} did not end within its ${minutes} minute(s).${doing}` }
}
