import { type Clock, sleep } from '../../clock.ts'
import type { Drifted } from '../../domain/decide-observe.ts'
import type { Metadata } from '../../kubernetes/objects.ts'
import type { OpenCluster } from '../../kubernetes/open-later.ts'
import { watchObjects } from '../../kubernetes/watch.ts'
import { concerned, type Looks, looksOf, selectorOf, type Watchable } from './marks.ts'
import type { Kept } from './parts.ts'
import { untilThere } from './until-there.ts'

export interface DriftParts {
  readonly open: () => Promise<OpenCluster>
  readonly clock: Clock
  brokerId(): Promise<string>
  /** What the services of the catalog make or patch; asked again and again, since the catalog changes. */
  readonly kinds: () => readonly Kept[]
}

/** One look for many changes, and not more often than this for one instance, or one thing that several have. */
const quiet = 2_000
const atMostEvery = 15_000
const lookForKindsEvery = 10_000
/** So many objects that are only patched are waited for at a time when they are gone; the others are found on schedule. */
const mostAwaited = 100

/**
 * Watches what was made or patched, one watch for each kind and way, and says whose objects were deleted, changed, or became or
 * ceased to be ready.
 */
export function createDriftWatch({ open, clock, brokerId, kinds }: DriftParts) {
  return async function watch(observeSoon: (drifted: Drifted) => Promise<void>, stopping: AbortSignal): Promise<void> {
    const watched = new Map<string, Promise<void>>()
    const latest = new Map<string, number>()
    const pending = new Set<string>()
    let awaited = 0

    const prompt = (drifted: Drifted) => {
      const key = JSON.stringify(drifted)
      if (pending.has(key)) return
      pending.add(key)
      const wait = Math.max(quiet, (latest.get(key) ?? 0) + atMostEvery - clock.now())
      void sleep(clock, wait, stopping).then(async () => {
        pending.delete(key)
        if (stopping.aborted) return
        latest.set(key, clock.now())
        await observeSoon(drifted)
      })
    }

    const follow = async (kind: Kept): Promise<void> => {
      /** How objects were, by their uids, and where. */
      const seen = new Map<string, { readonly looks: Looks; readonly metadata: Metadata }>()
      const { cluster, findKind } = await open()
      const found = await findKind(kind, stopping)
      if (found === undefined) return
      const broker = await brokerId()
      const compare = (uid: string, after: Looks) => {
        const whose = concerned(seen.get(uid)?.looks ?? after, after)
        for (const drifted of whose) prompt(drifted)
        return whose
      }
      const note = (item: Watchable) => {
        const uid = item.metadata.uid ?? ''
        const looks = looksOf(item, broker)
        compare(uid, looks)
        const { name, namespace } = item.metadata
        seen.set(uid, { looks, metadata: { name, namespace } })
      }
      const forget = (uid: string) => {
        const whose = compare(uid, new Map())
        const { name, namespace } = seen.get(uid)?.metadata ?? {}
        seen.delete(uid)
        if (kind.mode !== 'patch' || name === undefined || awaited >= mostAwaited) return
        // Whoever makes it again does not give it our label.
        awaited += 1
        void untilThere({ cluster, clock, path: found.path(namespace), name }, stopping).then(isThere => {
          awaited -= 1
          for (const drifted of isThere ? whose : []) prompt(drifted)
        })
      }
      await watchObjects<Watchable>(
        cluster,
        { path: found.path(), labels: selectorOf(broker, kind.mode), signal: stopping },
        {
          onList(items) {
            const there = new Set(items.map(({ metadata }) => metadata.uid ?? ''))
            // What is gone since the last list went while nobody looked.
            for (const uid of seen.keys()) if (!there.has(uid)) forget(uid)
            for (const item of items) note(item)
          },
          onChange: note,
          onGone: ({ metadata }) => forget(metadata.uid ?? ''),
        },
      )
    }

    while (!stopping.aborted) {
      for (const kind of kinds()) {
        const key = `${kind.mode} ${kind.apiVersion} ${kind.kind}`
        if (watched.has(key)) continue
        // One that the cluster does not know yet, or that cannot be asked, is tried again.
        const running = follow(kind).catch(() => undefined)
        watched.set(key, running)
        void running.then(() => watched.delete(key))
      }
      await sleep(clock, lookForKindsEvery, stopping)
    }
    await Promise.all(watched.values())
  }
}
