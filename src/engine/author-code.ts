import { AsyncLocalStorage } from 'node:async_hooks'
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
let tracing = 0

/** What author's code makes while it is traced is told to its run. */
const tellRun = (made: Sensitive<unknown>) => origins.getStore()?.run.onSensitive?.(made)

/**
 * Begins to trace what `runAuthorCode` runs; the returned function ends it. Before version 24, Node.js pays for tracing with
 * every promise of the process (about a tenth of the time of a request), so it is off while no operation runs. A promise
 * that was made while it was on is traced for ever.
 */
export function traceAuthorCode(): () => void {
  tracing += 1
  witnessSensitive(tellRun)
  return () => {
    tracing -= 1
    if (tracing === 0) origins.disable()
  }
}

export function runAuthorCode<T>(origin: Origin, code: () => T): T {
  return origins.run(origin, code)
}

/** The step whose code calls this, if any. */
export function currentStep(): string | undefined {
  return origins.getStore()?.step
}

let watchers = 0

/** Traces errors that nobody handles, until the returned function is called. Those of other code stay as they are. */
export function watchUnhandled(): () => void {
  watchers += 1
  if (watchers === 1) {
    process.on('unhandledRejection', onRejection)
    process.on('uncaughtExceptionMonitor', onException)
  }
  return () => {
    watchers -= 1
    if (watchers > 0) return
    process.off('unhandledRejection', onRejection)
    process.off('uncaughtExceptionMonitor', onException)
  }
}

/** Node.js calls it in the context of the promise that was rejected. */
function onRejection(reason: unknown): void {
  const origin = findOrigin()
  if (origin !== undefined) origin.run.onUnhandled('rejection', reason, origin.step)
  // Not ours: without this listener Node.js would have thrown it, unless the application listens too.
  else if (process.listenerCount('unhandledRejection') === 1) throw reason
}

function onException(error: unknown): void {
  const origin = findOrigin()
  origin?.run.onUnhandled('exception', error, origin.step)
}

/** Also where tracing is off: to run anything turns it on. */
function findOrigin(): Origin | undefined {
  origins.run({ run: { onUnhandled() {} } }, () => {})
  const current = origins.getStore()
  if (tracing === 0) origins.disable()
  return current
}
