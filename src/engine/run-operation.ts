import { sleep } from '../clock.ts'
import { fingerprintOf } from '../domain/fingerprint.ts'
import { settleHeld } from '../domain/hold.ts'
import { sayLeft } from '../domain/left-service.ts'
import type { Operation, OperationError, Step } from '../domain/operation.ts'
import type { ActionResult, Outcome, SettlePolicy } from '../domain/outcome.ts'
import { backOff, isExhausted } from '../domain/retry.ts'
import { settle } from '../domain/settle.ts'
import { settleSweepFirst } from '../domain/settle-sweep-first.ts'
import type { ParkReason } from '../events.ts'
import type { Claim, Parking } from '../ledger.ts'
import { toError } from '../observer.ts'
import { count } from '../shape/count.ts'
import { sayDuration } from '../shape/duration.ts'
import { traceAuthorCode } from './author-code.ts'
import { ExhaustedError, isPermanent, retryAfter, shorten, toOperationError } from './errors.ts'
import type { HeldLease } from './held-lease.ts'
import { attemptFields } from './operation-fields.ts'
import { publicReason } from './public-reason.ts'
import { type Attempt, type Retry, Run, type Tools } from './run.ts'
import { startRun } from './run-trace.ts'
import { countedSteps, toFailed } from './step-rows.ts'
import { type Turn, turnOf } from './sweep-first.ts'
import { type FindWork, isWait, type Wait, type Work } from './work.ts'

export interface RunContext extends Tools {
  readonly findWork: FindWork
}

/** Leases lost in a row without a checkpoint before an operation is taken for the cause of the crashes. */
const poisonLosses = 10
const poisonPause = 10 * 60_000
const noDriverPause = 30_000
/** A service that is gone has no calls under way and nothing to observe. */
const noDriverPolicy: SettlePolicy = { sweepDelay: 0, sweepTimeout: 0, sweepOperationId: '' }
/** The pseudo step that counts failures of an action outside its steps. */
const actionStep = '(action)'

interface Taken extends Attempt, Turn {
  /** Called before the last write, when nothing of the author's is waited for any more. */
  leavePlace(): void
}

interface Running extends Taken {
  readonly run: Run
  readonly work: Work
}

/**
 * Runs a claimed operation until it is finished, parked or lost. Exactly one of finish, park and handBack is called, and
 * nothing is written after it. Where it is finish or park, `leavePlace` is called before.
 */
export async function runOperation(
  claimed: Claim,
  held: HeldLease,
  context: RunContext,
  leavePlace: () => void,
): Promise<void> {
  const { tracer } = context
  if (tracer === undefined) return runClaimed(claimed, held, context, leavePlace)
  const span = startRun(tracer, claimed.operation)
  try {
    await tracer.within(span, () => runClaimed(claimed, held, { ...context, span }, leavePlace))
    span.end({ attributes: { 'purser.cut-short': held.why } })
  } catch (error) {
    span.end({ error })
    throw error
  }
}

async function runClaimed(claimed: Claim, held: HeldLease, context: RunContext, leavePlace: () => void): Promise<void> {
  const now = held.storeNow()
  const { hold } = claimed.operation
  const { error: ended } = claimed.operation
  const turn = turnOf(claimed, context, ended === undefined ? now : Number.POSITIVE_INFINITY)
  const { claim } = turn
  const { operation } = claim
  const { observer } = context
  observer['operation.started']?.({
    queueMs: Math.max(0, now - operation.notBefore),
    takenOver: claim.takenOver,
    ...attemptFields(claim, held),
  })
  const attempt = { held, leavePlace, ...turn }
  const isOver = ended !== undefined || now >= operation.deadlineAt
  const late = () => {
    if (ended !== undefined) return ended
    if (hold?.error !== undefined) return hold.error
    if (work === undefined) return withoutService(operation)
    const isFirst = operation.attempt === 1 && operation.input.sweepFirst === undefined
    return isFirst ? neverRan(operation, now) : timedOut(operation)
  }
  // It was not due: whoever made it due knew nothing of the hold.
  if (hold !== undefined && !isOver) return park(attempt, 'held', { until: operation.deadlineAt })
  const isPoison = claim.takenOver && operation.losses > poisonLosses
  const work = context.findWork(claim)
  // None of the author's code runs where it is unknown, or where it may be what kills the workers.
  if (isOver && (isPoison || work === undefined)) {
    await finish({ ...attempt, work }, { outcome: { kind: 'failed', error: late() }, unclean: true })
    return
  }
  if (isPoison) {
    observer['operation.poisonous']?.({ ...attemptFields(claim, held), losses: operation.losses })
    const description = 'put aside after repeated crashes'
    return park(attempt, 'poisonous', { until: now + poisonPause, description })
  }
  if (work === undefined) {
    observer['operation.unknownService']?.(attemptFields(claim, held))
    const description = 'waiting for a broker that has the service'
    return park(attempt, 'unknownService', { until: now + noDriverPause, description })
  }
  const run = new Run(attempt, work)
  const running: Running = { ...attempt, run, work }
  const stopTracing = traceAuthorCode()
  try {
    await (isOver ? fail(running, late()) : perform(running))
  } finally {
    stopTracing()
    run.close()
  }
}

async function perform(running: Running): Promise<void> {
  const { run, work, held, claim, tools, before } = running
  const cancelDeadline = tools.clock.after(claim.operation.deadlineAt - held.storeNow(), () => held.abort('deadline'))
  const ended = await firstEnd(running)
  cancelDeadline()
  await run.settled()
  // It may be the creation whose time is up: claimed again, it fails, and the sweep goes on without it.
  const isOthers = before?.deadlineAt === claim.operation.deadlineAt
  if (held.why === 'deadline' && !isOthers) {
    const { description = claim.operation.description } = run
    return fail(running, timedOut({ ...claim.operation, description }))
  }
  if (held.why !== undefined) return handBack(running)
  if (run.retry !== undefined) return parkForRetry(running, run.retry)
  if (run.interrupted) return parkInterrupted(running)
  if (ended !== 'over' && 'error' in ended) return retryOrFail(running, ended.error)
  if (run.unhandled !== undefined || ended === 'over') return retryOrFail(running, run.unhandled)
  if (isWait(ended.value)) {
    const { waitFor, description } = ended.value
    return park(running, 'wait', { until: held.storeNow() + waitFor, description: run.hide.text(description) })
  }
  const outcome: Outcome = { kind: 'succeeded', result: run.hide.result(ended.value) }
  if (await finish(running, { outcome, unclean: run.unclean })) await work.afterwards?.(outcome)
}

type Ended = { readonly value: ActionResult | Wait } | { readonly error: unknown } | 'over'

/** The action's end, or that of the run: an action that does not return cannot hold the operation. */
async function firstEnd({ run, work, held }: Running): Promise<Ended> {
  const ended = await new Promise<Ended>(resolve => {
    const end = () => resolve('over')
    if (held.ending.aborted) return end()
    held.ending.onAbort(end)
    run.onOver(end)
    run
      .runAuthorCode(() => work.perform(run))
      .then(
        value => resolve({ value }),
        error => resolve({ error }),
      )
  })
  // Node.js reports a rejection that nobody handles when all that can run has run.
  if (ended !== 'over') await new Promise(resolve => setImmediate(resolve))
  return ended
}

/** A call that was cut off may still land: the ledger notes that there was one, as the claim after a crash does. */
async function handBack({ claim, held, tools }: Running): Promise<void> {
  const { store, observer } = tools
  const reason = held.why ?? 'lost'
  observer['operation.handedBack']?.({ ...attemptFields(claim, held), reason })
  await store.checkpoint(held.lease, { step: { ...failuresSoFar(claim), error: 'interrupted' } })
  await store.handBack(held.lease)
}

/**
 * The ledger did not answer in the middle of the action. That is not a failure of the action. What the action did last may
 * not be in the ledger, which therefore notes, as after a stop, that there was something. If the ledger still does not
 * answer, the lease runs out.
 */
async function parkInterrupted(running: Running): Promise<void> {
  const { claim, held, work, tools } = running
  const until = held.storeNow() + backOff(work.retry, 1, tools.random())
  const step = { ...failuresSoFar(claim), error: 'interrupted' }
  await park(running, 'store', { until, description: 'interrupted, trying again', step })
}

/** The action threw outside its steps, let a final failure of a step through, or left a rejected promise behind. */
async function retryOrFail(running: Running, thrown: unknown): Promise<void> {
  const { claim, held, run, work, tools } = running
  const { random, observer } = tools
  const { action } = claim.operation
  const before = failuresSoFar(claim)
  const failures = before.attempts + 1
  const now = held.storeNow()
  const error = run.hide.error(toError(thrown, `the ${action}`))
  const reason = publicReason(error)
  const exhausted = isExhausted(work.retry, failures, before.startedAt, now)
  if (isPermanent(thrown) || exhausted) {
    const failure = toOperationError(error, `The ${action} failed for good${reason}.`, run.nothingDone)
    const mayPass = isPermanent(thrown) ? thrown instanceof ExhaustedError : exhausted
    return mayPass && isHoldable(running) ? hold(running, failure, error) : fail(running, failure, error)
  }
  const delayMs = backOff(work.retry, failures, random(), retryAfter(thrown))
  observer['action.failed']?.({ ...attemptFields(claim, held), failures, delayMs, error })
  const step = toFailed({ ...before, attempts: failures }, error, claim.operation, now)
  const description = `the ${action} failed ${count(failures, 'time')}${reason}, trying again`
  await park(running, 'retry', { until: now + delayMs, description, step })
}

/** Somebody polls it, and there is time left to decide. */
function isHoldable({ claim, work, held }: Running): boolean {
  const { action, synchronous, deadlineAt } = claim.operation
  const isPlatforms = action !== 'observe' && action !== 'sweep'
  return work.holds === true && isPlatforms && synchronous !== true && held.storeNow() < deadlineAt
}

/** For the platform it is in progress. Where nobody decides, it fails with the error at its deadline. */
async function hold({ claim, held, tools, run }: Running, failure: OperationError, error: Error): Promise<void> {
  const { store, observer } = tools
  const description = shorten(`${failure.message} Held until an operator of the broker decides.`)
  const finished = await store.finish(held.lease, snapshot => {
    const unclean = snapshot.finishing.unclean || run.unclean
    return settleHeld({ ...snapshot, finishing: { ...snapshot.finishing, unclean } }, failure, description)
  })
  if (!finished) return handBackLost({ claim, held, tools })
  const until = claim.operation.deadlineAt
  observer['operation.held']?.({ ...attemptFields(claim, held), until, reason: failure.message, error })
}

/** The failures of the action outside its steps, as its pseudo step has counted them. */
function failuresSoFar(claim: Claim): Step {
  const { operation } = claim
  const before = countedSteps(claim).find(step => step.name === actionStep)
  const startedAt = before?.startedAt ?? operation.checkpointAt ?? operation.acceptedAt
  return { name: actionStep, state: 'failed', attempts: before?.attempts ?? 0, startedAt }
}

async function parkForRetry(running: Running, { steps, until, description }: Retry): Promise<void> {
  const [first, ...others] = steps
  for (const step of others) await running.tools.store.checkpoint(running.held.lease, { step })
  await park(running, 'retry', { until, description, step: first })
}

/** Gives the operation back to the ledger; it is due again at the deadline at the latest, so that it ends then. */
async function park({ claim, held, tools, leavePlace }: Taken, reason: ParkReason, parking: Parking): Promise<void> {
  const { store, observer } = tools
  const until = Math.min(parking.until, Math.max(claim.operation.deadlineAt, 0))
  const { description } = parking
  leavePlace()
  if (await store.park(held.lease, { ...parking, until }))
    observer['operation.parked']?.({ ...attemptFields(claim, held), until, reason, description })
}

async function fail(running: Running, error: OperationError, cause?: Error): Promise<void> {
  const { run, work, held, tools } = running
  // The hooks that hear of the failure cannot keep the operation from ending.
  const heard = new AbortController()
  const hearing = run
    .runAuthorCode(() => work.onFailure(run, cause ?? new Error(error.message)))
    .finally(() => heard.abort())
  await Promise.race([hearing, sleep(tools.clock, work.callTimeout, heard.signal)])
  const unclean = run.unclean || held.why === 'deadline'
  await finish(running, { outcome: { kind: 'failed', error }, unclean, cause, step: run.failedStep })
}

interface Finish {
  readonly outcome: Outcome
  readonly unclean: boolean
  /** What was thrown, where that is why it failed. */
  readonly cause?: Error
  /** The one that failed last. */
  readonly step?: Step
}

async function finish(attempt: Taken & { readonly work?: Work }, ending: Finish) {
  const { unclean, cause } = ending
  const outcome = withFingerprint(ending, attempt.claim.operation)
  const { claim, held, tools, work, before } = attempt
  const { store, observer } = tools
  const policy = work?.settlePolicy(held.storeNow()) ?? noDriverPolicy
  attempt.leavePlace()
  const finished = await store.finish(held.lease, snapshot => {
    const finishing = unclean ? { ...snapshot.finishing, unclean } : snapshot.finishing
    return (before === undefined ? settle : settleSweepFirst)({ ...snapshot, finishing }, outcome, policy)
  })
  const totalMs = held.storeNow() - claim.operation.acceptedAt
  if (!finished) await handBackLost(attempt)
  else if (outcome.kind === 'succeeded') observer['operation.succeeded']?.({ totalMs, ...attemptFields(claim, held) })
  else {
    const reason = outcome.error.message
    observer['operation.failed']?.({ ...attemptFields(claim, held), totalMs, reason, error: cause })
  }
  return finished
}

async function handBackLost({ claim, held, tools }: Attempt): Promise<void> {
  tools.observer['operation.handedBack']?.({ ...attemptFields(claim, held), reason: 'lost' })
  await tools.store.handBack(held.lease)
}

function withFingerprint({ outcome, step }: Finish, operation: Operation): Outcome {
  if (outcome.kind === 'succeeded') return outcome
  const { error } = outcome
  const fingerprint = step?.fingerprint ?? fingerprintOf(operation, undefined, error.message)
  return { kind: 'failed', error: { ...error, step: step?.name, fingerprint } }
}

/** The first claim of the operation came when its time was over. */
function neverRan({ action, acceptedAt, deadlineAt }: Operation, now: number): OperationError {
  const [waited, limit] = [now - acceptedAt, deadlineAt - acceptedAt].map(sayDuration)
  return { message: `The ${action} never ran: it waited ${waited} in the queue, and may take ${limit} in all.` }
}

function withoutService({ action, acceptedAt, deadlineAt, serviceId }: Operation): OperationError {
  const limit = sayDuration(deadlineAt - acceptedAt)
  return { message: shorten(`The ${action} did not end within ${limit}. ${sayLeft(serviceId)}`) }
}

function timedOut({ action, acceptedAt, deadlineAt, description }: Operation): OperationError {
  const doing = description === undefined ? '' : ` Last: ${description}.`
  return { message: shorten(`The ${action} did not end within ${sayDuration(deadlineAt - acceptedAt)}.${doing}`) }
}
