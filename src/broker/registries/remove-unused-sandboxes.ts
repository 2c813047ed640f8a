import { type Clock, sleep } from '../../clock.ts'
import { isActive, type Operation } from '../../domain/operation.ts'
import { sandboxLabels } from '../../domain/sandbox-labels.ts'
import { type Observer, toError } from '../../observer.ts'
import type { Reads } from '../../reads.ts'
import type { FoundSandbox, Runtime } from '../../sandbox.ts'

export interface UnusedSandboxOptions {
  /** All that this process reaches. */
  readonly runtimes: readonly Runtime[]
  readonly store: Pick<Reads, 'operation' | 'instance' | 'binding'>
  /** As the sandboxes of this broker are labelled: those of others are left alone. */
  readonly brokerLabel: string
  /** A sandbox that failed stays while its operation is the latest one of its instance or binding. */
  readonly keepOnError: boolean
  readonly clock: Clock
  /** Younger ones are left alone. */
  readonly graceMs: number
  readonly observer: Observer
}

/**
 * Makes a function that removes the sandboxes that no operation needs any more, and answers how many. Operations remove
 * their own: these are leftovers.
 */
export function createUnusedSandboxRemover(options: UnusedSandboxOptions): () => Promise<number> {
  const { runtimes, store, clock, graceMs, observer } = options
  /** Those that did not answer last time: operators hear of it once. */
  const silent = new Set<Runtime>()

  async function isNeeded({ labels, createdAt }: FoundSandbox): Promise<boolean> {
    const id = labels[sandboxLabels.operation]
    if (labels[sandboxLabels.broker] !== options.brokerLabel || id === undefined) return true
    if (clock.now() - createdAt < graceMs) return true
    const operation = await store.operation(id)
    if (operation === undefined) return false
    const kept = options.keepOnError && operation.state === 'failed'
    return isActive(operation) || (kept && (await isLatest(operation)))
  }

  async function isLatest({ id, instanceId, bindingId }: Operation): Promise<boolean> {
    const resource =
      bindingId === undefined ? await store.instance(instanceId) : await store.binding(instanceId, bindingId)
    return resource !== undefined && resource.phase !== 'deleted' && resource.lastOperationId === id
  }

  /** One that cannot be removed does not stop the others from being removed. */
  async function remove(runtime: Runtime, { name, labels }: FoundSandbox): Promise<boolean> {
    const fields = { sandbox: name, runtime: runtime.type, operationId: labels[sandboxLabels.operation] }
    try {
      await runtime.remove(name)
      observer['sandbox.removed']?.(fields)
      return true
    } catch (error) {
      observer['sandbox.removalFailed']?.({ ...fields, error: toError(error) })
      return false
    }
  }

  async function removeFrom(runtime: Runtime): Promise<number> {
    let removed = 0
    let needed = 0
    let unneeded = 0
    for (const sandbox of await runtime.list()) {
      const isOurs = sandbox.labels[sandboxLabels.broker] === options.brokerLabel
      if (await isNeeded(sandbox)) {
        needed += isOurs ? 1 : 0
        continue
      }
      unneeded += 1
      if (await remove(runtime, sandbox)) removed += 1
    }
    observer['sandbox.listed']?.({ runtime: runtime.type, needed, unneeded })
    return removed
  }

  return async () => {
    let removed = 0
    for (const runtime of runtimes) {
      try {
        removed += await removeFrom(runtime)
        silent.delete(runtime)
      } catch (error) {
        if (!silent.has(runtime)) observer['sandbox.listingFailed']?.({ runtime: runtime.type, error: toError(error) })
        silent.add(runtime)
      }
    }
    return removed
  }
}

const lookEvery = 15_000

/**
 * Each process looks after the sandboxes that it reaches: at its start, for what another one left when it died, and every
 * few seconds. Stops with the signal.
 */
export async function keepRemovingUnusedSandboxes(
  clock: Clock,
  removeUnused: () => Promise<unknown>,
  stopping: AbortSignal,
): Promise<void> {
  while (!stopping.aborted) {
    await removeUnused()
    await sleep(clock, lookEvery, stopping)
  }
}
