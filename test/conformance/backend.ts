/** What the conformance services act on: it records what was done, and a test can hold, fail or refuse the next action. */
export interface Backend {
  /** Names of things that exist now: `instance:<id>`, `binding:<id>`. */
  readonly things: ReadonlySet<string>
  /** Every action that reached its end, in order: `provision i-1`, `bind b-1` … */
  readonly done: readonly string[]
  /** From now on actions of this kind wait until the returned function is called. */
  hold(action: string): () => void
  /** The next action of this kind throws this once. */
  failNext(action: string, error: Error): void
  /** Every action of this kind throws what the function makes, until it is set to undefined. */
  failAlways(action: string, error: (() => Error) | undefined): void
  /** What the next bind returns instead of its usual result. */
  bindResult: object | undefined
  // For the services:
  perform(action: string, id: string, signal: AbortSignal, effect: (things: Set<string>) => void): Promise<void>
}

export function createBackend(): Backend {
  const things = new Set<string>()
  const done: string[] = []
  const gates = new Map<string, Promise<void>>()
  const once = new Map<string, Error[]>()
  const always = new Map<string, () => Error>()
  return {
    things,
    done,
    bindResult: undefined,
    hold(action) {
      let open = () => {}
      gates.set(
        action,
        new Promise(resolve => {
          open = resolve
        }),
      )
      return () => {
        gates.delete(action)
        open()
      }
    },
    failNext(action, error) {
      once.set(action, [...(once.get(action) ?? []), error])
    },
    failAlways(action, error) {
      if (error === undefined) always.delete(action)
      else always.set(action, error)
    },
    async perform(action, id, signal, effect) {
      const gate = gates.get(action)
      if (gate !== undefined) await Promise.race([gate, aborted(signal)])
      const error = once.get(action)?.shift() ?? always.get(action)?.()
      if (error !== undefined) throw error
      effect(things)
      done.push(`${action} ${id}`)
    },
  }
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason)
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
}
