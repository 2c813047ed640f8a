import { AsyncLocalStorage } from 'node:async_hooks'

/** Whose code is running: what a rejected promise that nobody awaits, and an error in a timer, are traced to. */
export interface Origin {
  readonly run: UnhandledListener
  readonly step?: string
}

export interface UnhandledListener {
  /** Nobody handles this error. The process lives on after a rejection and ends after an exception. */
  onUnhandled(kind: 'rejection' | 'exception', thrown: unknown, step: string | undefined): void
}

const origins = new AsyncLocalStorage<Origin>()

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
  const origin = origins.getStore()
  if (origin !== undefined) origin.run.onUnhandled('rejection', reason, origin.step)
  // Not ours: without this listener Node.js would have thrown it, unless the application listens too.
  else if (process.listenerCount('unhandledRejection') === 1) throw reason
}

function onException(error: unknown): void {
  const origin = origins.getStore()
  origin?.run.onUnhandled('exception', error, origin.step)
}
