import type { Change, WakeUp } from '../store.ts'

export type WakeUps = ReturnType<typeof createWakeUps>

export function createWakeUps() {
  const listeners = new Set<(wakeUp: WakeUp) => void>()
  return {
    listen(listener: (wakeUp: WakeUp) => void): () => void {
      // A wrapper of its own, so that listening twice with one function means being told twice.
      const entry = (wakeUp: WakeUp) => listener(wakeUp)
      listeners.add(entry)
      return () => listeners.delete(entry)
    },
    /** Tells every listener, after the current turn: never in the middle of a write, nor of the caller's own code. */
    send(wakeUps: readonly WakeUp[]) {
      if (wakeUps.length === 0 || listeners.size === 0) return
      queueMicrotask(() => {
        for (const wakeUp of wakeUps) for (const listener of [...listeners]) tell(listener, wakeUp)
      })
    },
  }
}

/** What listeners are told once a change has been written. */
export function wakeUpsOf({ operations = [] }: Change): readonly WakeUp[] {
  const ended = operations.filter(({ state }) => state !== 'queued' && state !== 'running')
  return [
    ...(operations.some(({ state }) => state === 'queued') ? [{ type: 'work' } as const] : []),
    ...ended.map(({ id }) => ({ type: 'finished', operationId: id }) as const),
  ]
}

/** A wake-up is a hint; a listener that breaks on one must not take the others or the process with it. */
function tell(listener: (wakeUp: WakeUp) => void, wakeUp: WakeUp): void {
  try {
    listener(wakeUp)
  } catch {
    // The listener's loss: it still finds its work by claiming.
  }
}
