import type { Clock } from '../clock.ts'
import { limits } from '../domain/limits.ts'
import type { Step, StepTry } from '../domain/operation.ts'
import { backOff, isExhausted, type RetryPolicy } from '../domain/retry.ts'
import type { SharedWish } from '../domain/shared-claim.ts'
import type { LogFields, StepFields } from '../events.ts'
import type { Checkpoint, Claim, Ledger } from '../ledger.ts'
import { type Observer, toError } from '../observer.ts'
import type { JsonObject } from '../protocol/json.ts'
import { readMarked } from '../sensitive/marked.ts'
import { count } from '../shape/count.ts'
import { StoreUnavailableError } from '../store.ts'
import type { OpenSpan, Tracer } from '../tracer.ts'
import { currentStep, runAuthorCode } from './author-code.ts'
import { type Call, callWithDeadline } from './call.ts'
import { ExhaustedError, isPermanent, RunEnded, retryAfter, TerminalError } from './errors.ts'
import type { HeldLease } from './held-lease.ts'
import { operationFields } from './operation-fields.ts'
import { publicReason } from './public-reason.ts'
import { type RunFields, RunLink } from './run-link.ts'
import { RunSecrets } from './run-secrets.ts'
import { noteSkipped, traceStep } from './run-trace.ts'
import { saveState } from './save-state.ts'
import { ShownOutput } from './shown-output.ts'
import { countedSteps, toFailed, triesOf } from './step-rows.ts'
import { type Kept, toJson } from './to-json.ts'

/** Steps with this prefix decide whether the action may begin: when one of them refuses, nothing has been done. */
const beforePrefix = 'before: '

const keptState: Kept = {
  what: 'ctx.saveState got what cannot be kept',
  path: 'state',
  bytes: limits.stateBytes,
  sensitive: 'marked',
}
const keptOutput = (name: string): Kept => ({
  what: `The step "${name}" returned what cannot be kept`,
  path: 'output',
  bytes: limits.stepOutputBytes,
  sensitive: 'marked',
})

function keep<T>(returned: T, kept: Kept): T | ShownOutput {
  if (!(returned instanceof ShownOutput)) return toJson(returned, kept)
  return new ShownOutput(
    toJson(returned.output, kept),
    toJson(returned.shown, { ...kept, path: 'shown', sensitive: undefined }),
  )
}

export interface StepOptions {
  readonly retry?: RetryPolicy
  readonly timeout?: number
}

/** Why the run has to end without a result for now: the failed steps, and when to come again. */
export interface Retry {
  readonly until: number
  readonly description: string
  readonly steps: readonly Step[]
}

/** What every run works with. */
export interface Tools {
  readonly store: Ledger
  readonly clock: Clock
  readonly random: () => number
  readonly observer: Observer
  /** Where traces are on, with the span of this run. */
  readonly tracer?: Tracer
  readonly span?: OpenSpan
}

/** A claimed operation, who holds it, and what its run works with. */
export interface Attempt {
  readonly claim: Claim
  readonly held: HeldLease
  readonly tools: Tools
}

/** How the calls of a run are made. */
export interface CallPolicy {
  readonly retry: RetryPolicy
  readonly callTimeout: number
  /** What no text of the run may show, besides what its own code calls sensitive. */
  secrets?(): readonly string[]
}

/**
 * One run of one operation, from a claim to its end: what an action can do durably. A run starts at the top of the action
 * every time; finished steps answer from their checkpoints.
 */
export class Run {
  readonly claim: Claim
  readonly #tools: Tools
  readonly #policy: CallPolicy
  readonly #held: HeldLease
  readonly #fields: RunFields
  readonly #steps: Map<string, Step>
  readonly #used = new Set<string>()
  readonly #skipped: string[] = []
  readonly #inFlight = new Set<Promise<unknown>>()
  readonly #link: RunLink
  /** For whoever tells of the run: nothing of its secrets is told. */
  readonly hide: RunSecrets
  #whenOver: () => void = () => {}
  // What follows is set here only, and read by whoever ends the run.
  /** The state of the operation's resource, with what this operation has saved. */
  state: JsonObject
  /** Set when a step has failed for now: the run can only end, whatever the action makes of the error. */
  retry: Retry | undefined
  /** Set when the ledger did not answer: what this run did last may not be noted, so it can only end, and come again. */
  interrupted = false
  /** Set when a promise of the author's code was rejected and nobody handled it. */
  unhandled: Error | undefined
  /** What this run has said last. */
  description: string | undefined

  constructor({ claim, held, tools }: Attempt, policy: CallPolicy) {
    const { operation, instance } = claim
    this.claim = claim
    this.#tools = tools
    this.#policy = policy
    this.#held = held
    this.#fields = { attempt: operation.attempt, ...operationFields(operation, instance) }
    this.#steps = new Map(countedSteps(claim).map(step => [step.name, step]))
    this.state = (operation.bindingId === undefined ? instance : claim.binding)?.state ?? {}
    this.hide = new RunSecrets(
      () => policy.secrets?.() ?? [],
      () => [this.state, instance.state, claim.binding?.state, ...[...this.#steps.values()].map(step => step.output)],
    )
    this.#link = new RunLink(this.#fields, tools.observer, this.hide)
    this.#link.fail = error => {
      this.unhandled ??= error
      this.#end()
    }
  }

  /** Calls back when the run can only end, although the action has not returned. */
  onOver(listener: () => void): void {
    this.#whenOver = listener
  }

  #end(): void {
    this.#whenOver()
  }

  /** For the author's code: aborted when the run ends, whatever its reason. */
  get signal(): AbortSignal {
    return this.#held.signal
  }

  /** Nothing was ever attempted under this operation, but for what stands before the action. A crash leaves doubt. */
  get nothingDone(): boolean {
    return !this.claim.operation.unclean && [...this.#steps.keys()].every(name => name.startsWith(beforePrefix))
  }

  /** The step that failed last, in this run or in one before it. */
  get failedStep(): Step | undefined {
    return [...this.#steps.values()]
      .filter(({ state, fingerprint }) => state === 'failed' && fingerprint !== undefined)
      .sort((one, other) => (one.failedAt ?? 0) - (other.failedAt ?? 0))
      .at(-1)
  }

  /** Some call failed or got no answer: it may still land, later than this run ends. */
  get unclean(): boolean {
    return [...this.#steps.values()].some(step => step.state === 'failed' || step.attempts > 1)
  }

  /** Runs code of the author, so that what nobody handles in it is traced to this run, and to the step. */
  runAuthorCode<T>(code: () => T, step?: string): T {
    return runAuthorCode({ run: this.#link, step }, code)
  }

  /** Runs `fn` once, however often the action runs: its output is kept and given back on every later run. */
  step<T>(name: string, fn: (call: Call) => T | Promise<T>, options: StepOptions = {}): Promise<T> {
    return this.#untilOver(this.#step(name, fn, options))
  }

  /** Claims a shared resource; `create` runs where this operation is the one to make it. */
  share(key: string, create: (call: Call) => unknown): Promise<void> {
    return this.#untilOver(this.#shared('acquire', key, create))
  }

  /** Gives up the claim of a shared resource; `remove` runs where nobody else claims it. */
  unshare(key: string, remove: (call: Call) => unknown): Promise<void> {
    return this.#untilOver(this.#shared(this.claim.operation.action === 'sweep' ? 'sweep' : 'release', key, remove))
  }

  /** Merges into the resource's state at once, so that a clean-up after a failure knows it too. */
  saveState(patch: JsonObject): Promise<void> {
    return this.#untilOver(this.#saveState(patch))
  }

  /** What an action asks the ledger. Where that does not answer the run is over, as with all that is written. */
  ask<T>(question: Promise<T>): Promise<T> {
    return this.#untilOver(question)
  }

  /** Shown by the platform while it polls. Not awaited by the action; the end of the run waits for it. */
  describe(description: string): void {
    if (description === '' || this.#held.ending.aborted) return
    this.description = this.hide.text(description)
    const writing = this.#write({ description: this.description }).catch(() => this.#held.doubt())
    this.#inFlight.add(writing)
    void writing.then(() => this.#inFlight.delete(writing))
  }

  log(level: 'info' | 'warn' | 'error', message: string, fields?: LogFields): void {
    const listener = this.#tools.observer['author.log']
    if (listener === undefined) return
    const safe = { message: this.hide.text(String(message)), fields: this.hide.fields(fields) }
    listener({ ...this.#fields, step: currentStep(), level, ...safe })
  }

  /** Every step that was started has ended, so nothing of this run is under way any more. */
  async settled(): Promise<void> {
    while (this.#inFlight.size > 0) await Promise.allSettled(this.#inFlight)
  }

  /** The run is over. Its code may have left something behind that runs on; that has no hold on the run. */
  close(): void {
    this.#link.fail = undefined
    this.hide.settle()
    noteSkipped(this.#tools.span, this.#skipped)
  }

  async #saveState(patch: JsonObject): Promise<void> {
    const merge = (state: JsonObject): JsonObject => toJson({ ...state, ...patch }, keptState)
    this.state = merge(this.state)
    const saving = { operation: this.claim.operation, lease: this.#held.lease, state: this.state, merge }
    this.#stillHeld(await saveState(this.#tools.store, saving))
  }

  async #step<T>(name: string, fn: (call: Call) => T | Promise<T>, options: StepOptions): Promise<T> {
    if (this.#used.has(name))
      throw new TerminalError(`The step "${name}" is used twice in one action: give each step its own name.`)
    this.#used.add(name)
    if (this.#used.size > limits.stepsPerOperation)
      throw new TerminalError(`The action has more than ${limits.stepsPerOperation} steps: put several calls into one.`)
    const before = this.#steps.get(name)
    if (before?.state === 'done') {
      this.#skipped.push(name)
      return readMarked(before.output) as T
    }
    const { output: returned, step } = await this.#call(name, fn, options)
    const { output, shown } = returned instanceof ShownOutput ? returned : { output: returned }
    const { attempts, startedAt, tries } = step
    const done: Step = { name, attempts, startedAt, tries, state: 'done', output, shown }
    this.#stillHeld(await this.#tools.store.checkpoint(this.#held.lease, { step: done }))
    this.#steps.set(name, done)
    return readMarked(output) as T
  }

  async #shared(wish: Exclude<SharedWish, 'settle'>, key: string, fn: (call: Call) => unknown): Promise<void> {
    const { store } = this.#tools
    const answer = this.#stillHeld(await store.share(this.#held.lease, key, wish))
    if (answer === 'ready') return
    if (answer === 'busy') throw this.#retryLater(1_000, `waiting for the shared resource ${key}`)
    if (answer === 'quiet') {
      this.#letLateCallsLand(key)
      return this.#shared('recreate', key, fn)
    }
    const { step } = await this.#call(`${wish} ${key}`, fn, {})
    // An earlier call of this removal may land once more: it stays unsettled, and the next creation waits for that. So does one
    // beside which a call of the creation may land: where it fails after all, the next deletion removes it again.
    const isDoubted = wish === 'release' && this.claim.operation.unclean
    if (wish !== 'acquire' && wish !== 'recreate' && (step.attempts > 1 || this.#isRepeated || isDoubted)) return
    this.#stillHeld(await store.share(this.#held.lease, key, 'settle'))
  }

  /** The wait is noted in the ledger, so that it is over once, however often the action runs. */
  #letLateCallsLand(key: string): void {
    const name = `quiet ${key}`
    if (this.#steps.has(name)) return
    const waited: Step = { name, state: 'failed', attempts: 1, startedAt: this.#held.storeNow() }
    const quiet = 2 * this.#policy.callTimeout
    throw this.#retryLater(quiet, `waiting for late calls to the shared resource ${key}`, waited)
  }

  /** An earlier run of this operation was cut off, so nobody knows what it had sent. */
  get #isRepeated(): boolean {
    return this.claim.operation.unclean && this.claim.operation.attempt > 1
  }

  /** One call under a deadline. A failure either ends the run for now, or is final and thrown to the action. */
  async #call<T>(name: string, fn: (call: Call) => T | Promise<T>, options: StepOptions) {
    if (this.retry !== undefined || this.interrupted) throw new RunEnded()
    const { clock, observer, random } = this.#tools
    const { callTimeout } = this.#policy
    const { timeout = callTimeout, retry = this.#policy.retry } = options
    if (timeout > callTimeout)
      throw new TerminalError(`The step "${name}" may take longer than the service's callTimeout: raise that first.`)
    if (!this.#held.fits(timeout) && !(await this.#held.renew())) throw new RunEnded()
    const { operation } = this.claim
    const before = this.#steps.get(name)
    const attempts = (before?.attempts ?? 0) + 1
    const startedAt = before?.startedAt ?? operation.checkpointAt ?? operation.acceptedAt
    const calledAt = this.#held.storeNow()
    try {
      const output = await traceStep(this.#tools.tracer, { operation, step: name, calls: attempts }, () =>
        callWithDeadline(
          call => this.runAuthorCode(() => fn(call), name),
          { fence: operation.fence, key: `${operation.id}/${name}` },
          { timeout, ending: this.#held.ending, clock },
        ),
      )
      const step = { name, attempts, startedAt, tries: this.#triesOf(name, calledAt) }
      const kept = keep(output, keptOutput(name))
      observer['step.succeeded']?.(this.#stepFields(step, calledAt))
      return { output: kept, step }
    } catch (thrown) {
      if (this.#held.ending.aborted) throw new RunEnded()
      const error = this.hide.error(toError(thrown, `the step "${name}"`))
      const tries = this.#triesOf(name, calledAt, error.message)
      const failed: Step = { name, state: 'failed', attempts, startedAt, tries }
      const step = toFailed(failed, error, operation, this.#held.storeNow())
      this.#steps.set(name, step)
      const exhausted = isExhausted(retry, attempts, startedAt, this.#held.storeNow())
      const isFinal = isPermanent(thrown) || exhausted
      const delayMs = isFinal ? undefined : backOff(retry, attempts, random(), retryAfter(thrown))
      observer['step.failed']?.({ ...this.#stepFields(step, calledAt), delayMs, error })
      const reason = publicReason(error)
      if (delayMs !== undefined)
        throw this.#retryLater(
          delayMs,
          `the step "${name}" failed ${count(attempts, 'time')}${reason}, trying again`,
          step,
        )
      await this.#write({ step })
      if (error instanceof TerminalError) throw error
      const how = exhausted ? `gave up after ${count(attempts, 'attempt')}` : 'was refused for good'
      const Final = isPermanent(thrown) ? TerminalError : ExhaustedError
      throw new Final(`The step "${name}" ${how}${reason}.`, { cause: error })
    }
  }

  #triesOf(name: string, startedAt: number, error?: string): readonly StepTry[] {
    return triesOf(this.claim, this.#steps.get(name), { startedAt, endedAt: this.#held.storeNow(), error })
  }

  /** The trace context of this run, for what it calls. */
  get traceparent(): string | undefined {
    return this.#tools.span?.traceparent ?? this.#fields.traceparent
  }

  #stepFields({ name, attempts }: Pick<Step, 'name' | 'attempts'>, calledAt: number): StepFields {
    const durationMs = this.#held.storeNow() - calledAt
    return { step: name, calls: attempts, startedAt: calledAt, durationMs, ...this.#fields }
  }

  #retryLater(delay: number, description: string, step?: Step): RunEnded {
    const until = this.#held.storeNow() + delay
    const steps = step === undefined ? [] : [step]
    const earlier = this.retry
    this.retry =
      earlier === undefined
        ? { until, description, steps }
        : { ...earlier, until: Math.max(earlier.until, until), steps: [...earlier.steps, ...steps] }
    return new RunEnded()
  }

  async #write(checkpoint: Checkpoint): Promise<void> {
    this.#stillHeld(await this.#tools.store.checkpoint(this.#held.lease, checkpoint))
  }

  /** A guarded write was refused: somebody else has the operation now. */
  #stillHeld<T>(answer: T | false | undefined): T {
    if (answer === false || answer === undefined) {
      this.#held.abort('lost')
      throw new RunEnded()
    }
    return answer
  }

  /**
   * What the author awaits. Where the run is over, or the ledger did not answer, it stays pending for ever: the engine ends
   * the run by itself, and neither a catch nor anything else of the author's code runs in between. Nothing refers to it then,
   * so it is collected.
   */
  #untilOver<T>(work: Promise<T>): Promise<T> {
    this.#inFlight.add(work)
    return new Promise((resolve, reject) => {
      const onEnd = (value: T) => {
        this.#inFlight.delete(work)
        resolve(value)
      }
      work.then(onEnd, error => {
        this.#inFlight.delete(work)
        const unanswered = error instanceof StoreUnavailableError
        this.interrupted ||= unanswered
        if (unanswered || error instanceof RunEnded) this.#end()
        else reject(error)
      })
    })
  }
}
