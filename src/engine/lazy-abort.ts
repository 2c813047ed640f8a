/** What ends early, and who wants to hear of it. */
export interface Abortable {
  readonly aborted: boolean
  readonly reason: unknown
  /** Calls back once; the returned function forgets it. Where it is aborted already, nobody is called. */
  onAbort(listener: () => void): () => void
}

/**
 * An AbortController that makes its signal for whoever asks for it. Most runs and calls end without anybody having looked,
 * and a signal with a listener costs Node.js more than the rest of a step.
 */
export class LazyAbort implements Abortable {
  readonly #listeners = new Set<() => void>()
  #controller: AbortController | undefined
  aborted = false
  reason: unknown

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController()
      if (this.aborted) this.#controller.abort(this.reason)
    }
    return this.#controller.signal
  }

  abort(reason: unknown): void {
    if (this.aborted) return
    this.aborted = true
    this.reason = reason
    this.#controller?.abort(reason)
    for (const listener of this.#listeners) listener()
    this.#listeners.clear()
  }

  onAbort(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }
}

export function fromSignal(signal: AbortSignal): Abortable {
  return {
    get aborted() {
      return signal.aborted
    },
    get reason() {
      return signal.reason
    },
    onAbort(listener) {
      signal.addEventListener('abort', listener, { once: true })
      return () => signal.removeEventListener('abort', listener)
    },
  }
}
