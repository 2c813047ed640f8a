import { PassingError, TerminalError } from '../../engine/errors.ts'
import type { Wait } from '../../engine/work.ts'
import { applyObject } from '../../kubernetes/apply.ts'
import type { KubernetesObject } from '../../kubernetes/objects.ts'
import { sayDuration } from '../../shape/duration.ts'
import { callSettings } from './make.ts'
import { managerOf, nameOf, ownerIdOf, ownerLabel, type Ref } from './refs.ts'
import type { Running } from './running.ts'

/** Removes them, the last one first, each when the one after it is gone. Undefined when all of them are. */
export async function removeObjects(running: Running, refs: readonly Ref[]): Promise<Wait | undefined> {
  for (const ref of refs.toReversed()) {
    const waiting = await removeOne(running, ref)
    if (waiting !== undefined) return waiting
  }
  return undefined
}

async function removeOne(running: Running, ref: Ref): Promise<Wait | undefined> {
  const { ctx } = running
  if (ref.shared !== undefined) {
    await ctx.unshare(ref.shared, async ({ signal }) => {
      await send(running, ref, signal)
      const left = ref.mode === 'object' ? await findOurs(running, ref) : undefined
      if (left !== undefined) throw new PassingError(whyThere(ref, left, running.parts.storeNow()))
    })
    return undefined
  }
  const step = `${ref.mode === 'patch' ? 'undo' : 'delete'} ${nameOf(ref)} ${ref.namespace ?? ''}`.trim().slice(0, 190)
  const remove = (name: string) => ctx.step(name, ({ signal }) => send(running, ref, signal), callSettings)
  await remove(step)
  if (ref.mode === 'patch') return undefined
  let left = await findOurs(running, ref)
  if (left !== undefined && left.metadata.deletionTimestamp === undefined) {
    // It was made once more since, by a call that landed late.
    await remove(`${step} again`)
    left = await findOurs(running, ref)
  }
  return left && ctx.wait(pauseFor(left, running.parts.storeNow()), whyThere(ref, left, running.parts.storeNow()))
}

async function send(running: Running, ref: Ref, signal: AbortSignal): Promise<void> {
  const { kind, live } = await find(running, ref)
  if (kind === undefined || live === undefined) return
  const path = kind.path(ref.namespace, ref.object)
  const { uid } = live.metadata
  await inDeletion(() =>
    running.ask(nameOf(ref), async ({ cluster }) => {
      if (ref.mode === 'patch') {
        const { apiVersion, kind: named, object: name, namespace } = ref
        // Whoever applies nothing takes back what was applied before.
        const body = { apiVersion, kind: named, metadata: { name, namespace, uid } }
        await applyObject(cluster, path, body, { manager: managerOf(running.owner, ref.shared), signal })
      } else if (isOurs(running, ref, live) && live.metadata.deletionTimestamp === undefined)
        await cluster.remove(path, { uid, body: { propagationPolicy: 'Background' } })
    }),
  )
}

async function findOurs(running: Running, ref: Ref): Promise<KubernetesObject | undefined> {
  const { live } = await find(running, ref)
  return live !== undefined && isOurs(running, ref, live) ? live : undefined
}

function isOurs({ owner }: Running, { shared, binding = owner.binding }: Ref, { metadata }: KubernetesObject): boolean {
  return metadata.labels?.[ownerLabel] === ownerIdOf({ ...owner, binding }, shared)
}

/** A kind that the cluster does not know any more has no objects either. */
async function find(running: Running, ref: Ref) {
  const kind = await inDeletion(() => running.ask(nameOf(ref), ({ findKind }) => findKind(ref, running.ctx.signal)))
  const live = kind && (await inDeletion(() => running.find(kind, ref.namespace, ref.object)))
  return { kind, live }
}

/** What keeps a deletion from going on may be put right by people: it is tried again for as long as the operation has. */
async function inDeletion<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw error instanceof TerminalError ? new PassingError(error.message, { cause: error }) : error
  }
}

function whyThere(ref: Ref, { metadata }: KubernetesObject, now: number): string {
  const what = nameOf(ref)
  const { finalizers = [], deletionTimestamp } = metadata
  if (deletionTimestamp === undefined) return `${what} is being deleted`
  const since = Math.max(0, now - Date.parse(deletionTimestamp))
  const held = finalizers.length === 0 ? '' : `, held by its finalizers ${finalizers.join(', ')}`
  const stuck = since > stuckAfter ? ': whoever set them has to remove them, or an operator' : ''
  return `${what} has been in deletion for ${sayDuration(Math.round(since / 1000) * 1000)}${held}${stuck}`
}

const stuckAfter = 60_000

function pauseFor({ metadata }: KubernetesObject, now: number): number {
  const since = now - Date.parse(metadata.deletionTimestamp ?? new Date(now).toISOString())
  return Math.min(15_000, Math.max(1_000, Math.round(since / 4)))
}
