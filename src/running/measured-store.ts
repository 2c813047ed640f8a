import type { Observer } from '../observer.ts'
import type { Store } from '../store.ts'
import { wrapMethods } from './wrap-methods.ts'

/** What these answer to somebody whose lease is over. */
const refusals: ReadonlyMap<string, unknown> = new Map([
  ['checkpoint', false],
  ['park', false],
  ['finish', false],
  ['share', undefined],
])

/** The same store, which tells how long each of its calls took; where nobody listens, the store itself. */
export function measureStore(store: Store, observer: Observer, now = () => performance.now()): Store {
  const tell = observer['store.called']
  if (tell === undefined) return store
  return wrapMethods(store, (operation, method) => {
    if (operation === 'onWakeUp' || operation === 'close') return undefined
    const mayBeRefused = refusals.has(operation)
    const refusal = refusals.get(operation)
    return (one, two, three, four) => {
      const startedAt = now()
      const answering = method(one, two, three, four) as Promise<unknown>
      // Beside whoever waits for it, who need not wait for this.
      answering.then(
        answer =>
          tell({ operation, durationMs: now() - startedAt, ok: true, refused: mayBeRefused && answer === refusal }),
        () => tell({ operation, durationMs: now() - startedAt, ok: false, refused: false }),
      )
      return answering
    }
  })
}
