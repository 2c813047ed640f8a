import { type Clock, sleep } from '../../clock.ts'
import type { Cluster } from '../../kubernetes/cluster.ts'
import { watchObjects } from '../../kubernetes/watch.ts'
import type { Pod } from './pod-status.ts'

/** The watch ends when nobody has waited for so long. */
const lingerMs = 60_000

/** The pods of all sandboxes, by one watch for all who wait, and none while nobody does. */
export function createPods(cluster: Cluster, clock: Clock, labels: string) {
  const known = new Map<string, Pod>()
  const listeners = new Set<() => void>()
  let stop: AbortController | undefined
  let cancelStop: (() => void) | undefined
  const keyOf = ({ metadata }: Pod) => `${metadata.namespace}/${metadata.name}`
  const tell = () => {
    for (const listener of listeners) listener()
  }

  function begin(): void {
    cancelStop?.()
    cancelStop = undefined
    if (stop !== undefined) return
    stop = new AbortController()
    const { signal } = stop
    // It ends with its signal, and only then.
    void watchObjects<Pod>(
      cluster,
      { path: '/api/v1/pods', labels, signal },
      {
        onList(items) {
          known.clear()
          for (const pod of items) known.set(keyOf(pod), pod)
          tell()
        },
        onChange(pod) {
          known.set(keyOf(pod), pod)
          tell()
        },
        onGone(pod) {
          known.delete(keyOf(pod))
          tell()
        },
        // What is not seen is not known: whoever waits asks for himself.
        onTrouble: () => known.clear(),
      },
    )
  }

  function endLater(): void {
    if (listeners.size > 0 || cancelStop !== undefined) return
    cancelStop = clock.after(lingerMs, () => {
      cancelStop = undefined
      stop?.abort()
      stop = undefined
      known.clear()
    })
  }

  return {
    /** What was seen last; undefined where it was not seen. */
    seen: (namespace: string, name: string): Pod | undefined => known.get(`${namespace}/${name}`),

    /** Resolves with the next change of any pod, and after `ms` in any case. */
    async change(ms: number, signal: AbortSignal): Promise<void> {
      begin()
      const enough = new AbortController()
      const wake = () => enough.abort()
      listeners.add(wake)
      signal.addEventListener('abort', wake)
      try {
        if (!signal.aborted) await sleep(clock, ms, enough.signal)
      } finally {
        signal.removeEventListener('abort', wake)
        listeners.delete(wake)
        endLater()
      }
    },
  }
}
