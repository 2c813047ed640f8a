import type { Clock } from '../clock.ts'
import { sayDuration } from '../shape/duration.ts'
import type { Store } from '../store.ts'

/** Many probes, those of Kubernetes among them, give up after a second. */
const patience = 900

/**
 * Why the store cannot be used now, or undefined. Answers in time even where the store does not, and asks it once at a time:
 * probes of a store that hangs must not use up its connections.
 */
export function createReadiness(store: Store, clock: Clock): () => Promise<string | undefined> {
  let asking: Promise<string | undefined> | undefined

  async function ping(): Promise<string | undefined> {
    try {
      await store.ping()
      return undefined
    } catch {
      return `the store ${store.name} does not answer`
    }
  }

  return () =>
    new Promise(resolve => {
      const late = `the store ${store.name} does not answer within ${sayDuration(patience)}`
      const cancel = clock.after(patience, () => resolve(late))
      asking ??= ping().finally(() => {
        asking = undefined
      })
      void asking.then(trouble => {
        cancel()
        resolve(trouble)
      })
    })
}
