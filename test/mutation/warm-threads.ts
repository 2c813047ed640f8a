import { SHARE_ENV } from 'node:worker_threads'
import { type PoolOptions, type PoolRunnerInitializer, ThreadsPoolWorker, type WorkerRequest } from 'vitest/node'

type Listener = (message: unknown) => void

const kept = new Map<string, WarmThread>()

/**
 * One thread for each project, which stays from one run to the next with all that it has loaded: nine tenths of a run were spent on
 * loading. What the next run must see anew is named in Vitest's `watcher.invalidates`.
 */
export const warmThreads: PoolRunnerInitializer = {
  name: 'warm-threads',
  createPoolWorker(options) {
    const { name } = options.project
    const thread = kept.get(name) ?? new WarmThread(options)
    // Where files are isolated, they load everything anew.
    if (!options.project.config.isolate) kept.set(name, thread)
    return thread
  },
}

/** What a test has left behind must not be taken for what the next one does. */
export async function endWarmThreads(): Promise<void> {
  const threads = [...kept.values()]
  kept.clear()
  await Promise.all(threads.map(thread => thread.end()))
}

/** Vitest starts and stops a thread with messages. One that is kept has begun already, and goes on; Vitest is told what it expects. */
class WarmThread extends ThreadsPoolWorker {
  override readonly name = warmThreads.name
  readonly #project: string
  readonly #listeners = new Map<Listener, string>()
  #begun = false

  constructor(options: PoolOptions) {
    super(options)
    this.#project = options.project.name
    // Which guard is off stands there.
    Object.assign(process.env, options.env)
    Object.assign(this, { env: SHARE_ENV })
  }

  override async start(): Promise<void> {
    if (!this.#begun) await super.start()
  }

  override on(event: string, listener: Listener): void {
    this.#listeners.set(listener, event)
    super.on(event, listener)
  }

  override off(event: string, listener: Listener): void {
    this.#listeners.delete(listener)
    super.off(event, listener)
  }

  override send(message: WorkerRequest): void {
    const type = 'type' in message ? message.type : undefined
    const isKept = kept.get(this.#project) === this
    if (type === 'start' && this.#begun) this.#answer('started')
    else if (type === 'stop' && isKept) this.#answer('stopped')
    else super.send(message)
    if (type === 'start') this.#begun = true
  }

  /** It goes on, but whoever listened has what he wanted. */
  override async stop(): Promise<void> {
    if (kept.get(this.#project) !== this) return this.end()
    for (const [listener, event] of this.#listeners) super.off(event, listener)
    this.#listeners.clear()
  }

  end(): Promise<void> {
    return super.stop()
  }

  #answer(type: 'started' | 'stopped'): void {
    for (const [listener, event] of this.#listeners)
      if (event === 'message') listener({ type, __vitest_worker_response__: true })
  }
}
