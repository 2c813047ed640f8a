import { type Clock, sleep } from '../../clock.ts'
import { pinnedRevisions } from '../../domain/pinned-images.ts'
import type { Revision } from '../../domain/revision.ts'
import type { Marketplace } from '../../marketplace.ts'
import { type Observer, toError } from '../../observer.ts'
import type { ImageProgram, NotKept } from '../../sandbox.ts'
import { countUses } from './delete-unused-revisions.ts'

export interface PinnedKeeperParts {
  /** Keeps these images on this machine, and lets go of all others that it has kept. */
  readonly keep: (programs: readonly ImageProgram[], signal: AbortSignal) => Promise<readonly NotKept[]>
  /** Rejects where there are no credentials for its registry now. */
  readonly imageOf: (revision: Revision) => Promise<ImageProgram>
  readonly store: Pick<Marketplace, 'revisionUses'>
  readonly clock: Clock
  readonly observer: Observer
}

/** A provision pins an image without changing the catalog. */
const lookEvery = 60_000

/**
 * Keeps the images that instances are pinned to on this machine. Each process does it for the runtime that it has: whenever
 * the catalog has changed, and every minute. What fails is told once, and tried again each time.
 */
export function createPinnedKeeper({ keep, imageOf, store, clock, observer }: PinnedKeeperParts) {
  let revisions: readonly Revision[] = []
  let wake = new AbortController()
  let told: ReadonlyMap<string | undefined, Error> = new Map()

  async function keepPinned(signal: AbortSignal): Promise<ReadonlyMap<string, Error>> {
    const failed = new Map<string, Error>()
    const pinned = pinnedRevisions(revisions, countUses(await store.revisionUses()))
    // The catalog of this process is behind, and is read again soon. Until then nothing is let go of.
    if (pinned === undefined) return failed
    const withoutCredentials = (image: string, error: unknown): ImageProgram => {
      failed.set(image, toError(error))
      // It is needed all the same: where it is here, it stays.
      return { kind: 'image', image, pull: 'never' }
    }
    const programs: ImageProgram[] = []
    for (const revision of pinned)
      programs.push(await imageOf(revision).catch(error => withoutCredentials(revision.image, error)))
    for (const { image, error } of await keep(programs, signal)) failed.set(image, failed.get(image) ?? error)
    return failed
  }

  async function tryToKeep(signal: AbortSignal): Promise<void> {
    const failed = await keepPinned(signal).catch(error => new Map([[undefined, toError(error)]]))
    if (signal.aborted) return
    for (const [image, error] of failed) if (!told.has(image)) observer['image.keepFailed']?.({ image, error })
    told = failed
  }

  return {
    /** To be told of every catalog that was read. */
    look(found: readonly Revision[]): void {
      revisions = found
      wake.abort()
    },
    /** Until the signal is aborted; does not throw. */
    async run(stopping: AbortSignal): Promise<void> {
      const stop = () => wake.abort()
      stopping.addEventListener('abort', stop, { once: true })
      while (!stopping.aborted) {
        wake = new AbortController()
        await tryToKeep(stopping)
        if (!stopping.aborted) await sleep(clock, lookEvery, wake.signal)
      }
    },
  }
}
