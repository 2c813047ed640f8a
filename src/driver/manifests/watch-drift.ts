import { createHash } from 'node:crypto'
import { type Clock, sleep } from '../../clock.ts'
import { hash } from '../../expression/functions.ts'
import type { Metadata } from '../../kubernetes/objects.ts'
import type { OpenCluster } from '../../kubernetes/open-later.ts'
import { watchObjects } from '../../kubernetes/watch.ts'
import type { Made } from './parts.ts'
import { brokerLabel, instanceAnnotation, managerPrefix } from './refs.ts'

export interface DriftParts {
  readonly open: () => Promise<OpenCluster>
  readonly clock: Clock
  brokerId(): Promise<string>
  /** What the services of the catalog make; asked again and again, since the catalog changes. */
  readonly kinds: () => readonly Made[]
}

/** One look for many changes, and not more often than this for one instance. */
const quiet = 2_000
const atMostEvery = 15_000
const lookForKindsEvery = 10_000

interface Watchable {
  readonly metadata: Metadata
  readonly status?: { readonly conditions?: readonly { readonly type?: string; readonly status?: string }[] }
}

/** Watches what was made, one watch for each kind, and says whose objects were deleted, changed, or became or ceased to be ready. */
export function createDriftWatch({ open, clock, brokerId, kinds }: DriftParts) {
  return async function watch(
    observeSoon: (instanceId: string) => Promise<void>,
    stopping: AbortSignal,
  ): Promise<void> {
    const watched = new Map<string, Promise<void>>()
    const latest = new Map<string, number>()
    const pending = new Set<string>()

    const prompt = (instanceId: string | undefined) => {
      if (instanceId === undefined || pending.has(instanceId)) return
      pending.add(instanceId)
      const wait = Math.max(quiet, (latest.get(instanceId) ?? 0) + atMostEvery - clock.now())
      void sleep(clock, wait, stopping).then(async () => {
        pending.delete(instanceId)
        if (stopping.aborted) return
        latest.set(instanceId, clock.now())
        await observeSoon(instanceId)
      })
    }

    const follow = async (kind: Made): Promise<void> => {
      const seen: Seen = new Map()
      const { cluster, findKind } = await open()
      const found = await findKind(kind, stopping)
      if (found === undefined) return
      const labels = `${brokerLabel}=${hash(await brokerId())}`
      await watchObjects<Watchable>(
        cluster,
        { path: found.path(), labels, signal: stopping },
        {
          onList(items) {
            const there = new Set(items.map(({ metadata }) => metadata.uid ?? ''))
            // What is gone since the last list went while nobody looked.
            for (const [uid, { instanceId }] of seen) {
              if (there.has(uid)) continue
              seen.delete(uid)
              prompt(instanceId)
            }
            for (const item of items) note(seen, item, prompt)
          },
          onChange: item => note(seen, item, prompt),
          onGone(item) {
            seen.delete(item.metadata.uid ?? '')
            prompt(item.metadata.annotations?.[instanceAnnotation])
          },
        },
      )
    }

    while (!stopping.aborted) {
      for (const kind of kinds()) {
        const key = `${kind.apiVersion} ${kind.kind}`
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

/** How objects were, by their uids. */
type Seen = Map<string, { readonly fingerprint: string; readonly instanceId: string | undefined }>

function note(seen: Seen, item: Watchable, prompt: (instanceId: string | undefined) => void): void {
  const uid = item.metadata.uid ?? ''
  const fingerprint = fingerprintOf(item)
  const instanceId = item.metadata.annotations?.[instanceAnnotation]
  const before = seen.get(uid)
  seen.set(uid, { fingerprint, instanceId })
  if (before !== undefined && before.fingerprint !== fingerprint) prompt(instanceId)
}

/**
 * What matters of an object: which fields are ours (one that somebody else changes is not, any more) and its conditions. A
 * status that only counts on is no reason to look.
 */
function fingerprintOf({ metadata, status }: Watchable): string {
  const ours = metadata.managedFields?.filter(({ manager }) => manager?.startsWith(managerPrefix))
  const conditions = status?.conditions?.map(({ type, status: value }) => [type, value])
  const fields = ours?.map(({ fieldsV1 }) => fieldsV1)
  const deleted = metadata.deletionTimestamp !== undefined
  return createHash('sha256')
    .update(JSON.stringify([fields, conditions, deleted]))
    .digest('base64')
}
