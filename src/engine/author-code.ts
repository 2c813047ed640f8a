import { AsyncLocalStorage } from 'node:async_hooks'
import { systemClock } from '../clock.ts'
import { toError } from '../observer.ts'
import { type Sensitive, witnessSensitive } from '../sensitive/sensitive.ts'

/** Whose code is running: what a rejected promise that nobody awaits, and an error in a timer, are traced to. */
export interface Origin {
  readonly run: UnhandledListener
  readonly step?: string
}

export interface UnhandledListener {
  /** Nobody handles this error. The process lives on after a rejection and ends after an exception. */
  onUnhandled(kind: 'rejection' | 'exception', thrown: unknown, step: string | undefined): void
  /** The code has made something that none of its texts may show. */
  onSensitive?(made: Sensitive<unknown>): void
}

const origins = new AsyncLocalStorage<Origin>()
/** For callbacks that are called when the run that left them behind has ended, such as those of timers. */
const traceOn = 10 * 60_000
let tracing = 0
let isOn = false
let stayOn = () => {}

/** What author's code makes while it is traced is told to its run. */
const tellRun = (made: Sensitive<unknown>) => origins.getStore()?.run.onSensitive?.(made)

/**
 * Begins to trace what `runAuthorCode` runs. The returned function says that the run is over: ten minutes after the last
 * one tracing ends. Before version 24, Node.js pays for it with every promise of the process (about a tenth of the time of
 * a request), so it is off where no operation has run for a while. A promise that was made while it was on is traced for
 * ever; one that a callback makes afterwards is not.
 */
export function traceAuthorCode(): () => void {
  tracing += 1
  isOn = true
  stayOn()
  witnessSensitive(tellRun)
  return () => {
    tracing -= 1
    // The whole process is traced, so it is no broker's clock that counts.
    if (tracing === 0) stayOn = systemClock.after(traceOn, stopTracing)
  }
}

function stopTracing(): void {
  isOn = false
  origins.disable()
}

export function runAuthorCode<T>(origin: Origin, code: () => T): T {
  return origins.run(origin, code)
}

/** The step whose code calls this, if any. */
export function currentStep(): string | undefined {
  return origins.getStore()?.step
}

const watchers = new Set<(error: Error) => void>()

/**
 * Traces errors that nobody handles, until the returned function is called. Those of other code stay as they are; where a
 * rejection of theirs ends the process, `onUntraced` is told first.
 */
export function watchUnhandled(onUntraced: (error: Error) => void): () => void {
  if (watchers.size === 0) {
    process.on('unhandledRejection', onRejection)
    process.on('uncaughtExceptionMonitor', onException)
  }
  watchers.add(onUntraced)
  return () => {
    watchers.delete(onUntraced)
    if (watchers.size > 0) return
    process.off('unhandledRejection', onRejection)
    process.off('uncaughtExceptionMonitor', onException)
  }
}

/** Node.js calls it in the context of the promise that was rejected. */
function onRejection(reason: unknown): void {
  const origin = findOrigin()
  if (origin !== undefined) origin.run.onUnhandled('rejection', reason, origin.step)
  // Not ours: without this listener Node.js would have thrown it, unless the application listens too.
  else if (process.listenerCount('unhandledRejection') === 1) {
    const error = toError(reason, 'code that cannot be traced to an operation')
    for (const tell of watchers) tell(error)
    throw reason
  }
}

function onException(error: unknown): void {
  const origin = findOrigin()
  origin?.run.onUnhandled('exception', error, origin.step)
}

/** Also where tracing is off: to run anything turns it on. */
function findOrigin(): Origin | undefined {
  origins.run({ run: { onUnhandled() {} } }, () => {})
  const current = origins.getStore()
  if (!isOn) stopTracing()
  return current
}
