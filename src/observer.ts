import type { BrokerEvents, EventType } from './events.ts'

/**
 * Listens to events: an object with a function for each type that is of interest. Call sites write
 * `observer['operation.failed']?.({ … })`, so an event that nobody listens to is not even made.
 */
export type Observer = { readonly [Type in EventType]?: (event: BrokerEvents[Type]) => void }

export const silent: Observer = {}

/**
 * One observer that tells all of them. None can harm the broker or the others: what a listener throws is reported once
 * for each type of event as a warning of the process.
 */
export function combineObservers(...observers: readonly (Observer | undefined)[]): Observer {
  const [first] = observers
  if (observers.length === 1 && first !== undefined && guardedObservers.has(first)) return first
  const combined: Record<string, Listener> = {}
  for (const observer of observers)
    for (const [type, listener] of Object.entries(observer ?? {}) as [string, Listener][]) {
      if (typeof listener !== 'function') continue
      // Every request has an event: nothing is guarded twice.
      const guarded = observer !== undefined && guardedObservers.has(observer) ? listener : guard(type, listener)
      const before = combined[type]
      combined[type] = before === undefined ? guarded : inTurn(before, guarded)
    }
  guardedObservers.add(combined)
  return combined
}

type Listener = (event: unknown) => unknown

const guardedObservers = new WeakSet<Observer>()

function inTurn(first: Listener, second: Listener): Listener {
  return event => {
    first(event)
    second(event)
  }
}

function guard(type: string, listener: Listener): Listener {
  let reported = false
  const report = (error: unknown) => {
    if (!reported) process.emitWarning(`a listener to ${type} failed: ${toError(error).message}`, 'ObserverWarning')
    reported = true
  }
  return event => {
    try {
      const result = listener(event)
      if (result instanceof Promise) result.catch(report)
    } catch (error) {
      report(error)
    }
  }
}

/** What was thrown, as an error that says who threw it where it is not an error itself. */
export function toError(thrown: unknown, who = 'the code'): Error {
  if (thrown instanceof Error) return thrown
  const what = typeof thrown === 'string' ? `the text ${JSON.stringify(thrown.slice(0, 200))}` : nameOf(thrown)
  return new Error(`${who} threw ${what}: throw an Error`)
}

function nameOf(thrown: unknown): string {
  if (typeof thrown === 'object' && thrown !== null) return 'an object that is not an Error'
  return typeof thrown === 'function' ? 'a function' : String(thrown)
}
