import { bundleActions } from '../../bundle/actions.ts'
import type { CompiledObject } from '../../bundle/manifest-templates.ts'
import type { Call } from '../../engine/call.ts'
import { TerminalError } from '../../engine/errors.ts'
import type { Wait } from '../../engine/work.ts'
import { applyObject } from '../../kubernetes/apply.ts'
import type { KubernetesObject } from '../../kubernetes/objects.ts'
import { isJsonObject, type JsonObject } from '../../protocol/json.ts'
import { sayDuration } from '../../shape/duration.ts'
import { marksOf } from './marks.ts'
import { judgeReadiness } from './readiness.ts'
import { keyOf, managerOf, nameOf, ownerIdOf, ownerLabel, ownMetadata, type Ref, toJsonRefs } from './refs.ts'
import { NoRightError } from './refusal.ts'
import type { Placed, Running } from './running.ts'

/** One call to the cluster, with what it repeats itself. */
export const callSettings = { timeout: '50s' } as const
const shortestPause = 1_000
const longestPause = 15_000

/**
 * Makes these objects in their order, each when the one before it is ready. What is made is in the ledger before the cluster
 * hears of it. Undefined when all of them are ready.
 */
export async function makeObjects(
  running: Running,
  objects: readonly CompiledObject[],
  { passing = false } = {},
): Promise<Wait | undefined> {
  for (const given of objects) {
    if (!running.isWanted(given)) continue
    const waiting = await makeOne(running, given, passing)
    if (waiting !== undefined) return waiting
  }
  return undefined
}

async function makeOne(running: Running, given: CompiledObject, passing: boolean): Promise<Wait | undefined> {
  const { ctx } = running
  const placed = await running.place(given)
  const what = nameOf({ kind: given.kind, object: placed.object })
  let live: KubernetesObject | undefined
  if (given.mode === 'read') live = await look(running, placed)
  else {
    const ref = { ...refOf(placed, passing), ...keptOf(running, placed, passing) }
    await note(running, ref)
    const apply = async ({ signal }: Call) => {
      live = await applyPlaced(running, placed, { force: given.force, signal })
    }
    if (placed.shared !== undefined) await ctx.share(placed.shared, apply)
    else
      await ctx.step(`make ${given.name}`, apply, callSettings).catch(error => {
        throw error instanceof NoRightError ? new UnmadeError(error.message, keyOf(ref), error) : error
      })
    live ??= await running.find(placed.kind, placed.namespace, placed.object)
    if (live === undefined && placed.shared === undefined)
      throw new TerminalError(`${what} is gone: somebody has deleted it while it was made.`)
  }
  const judged: ReturnType<typeof judgeReadiness> =
    live === undefined
      ? { kind: 'waiting', text: 'it is not there yet' }
      : judgeReadiness(given, live as unknown as JsonObject, running.values())
  const said = 'text' in judged && judged.text !== undefined ? `: ${running.redact(judged.text)}` : ''
  if (judged.kind === 'failed') throw new TerminalError(`${what} has failed${said}.`)
  if (judged.kind === 'ready' && live !== undefined) {
    running.remember(given.name, live)
    return undefined
  }
  return waitFor(running, given, `${what} is not ready${said}`)
}

/** Ever more seldom: an object that takes an hour is not asked for every second. */
async function waitFor(
  { ctx, parts }: Running,
  { name, deadline }: CompiledObject,
  description: string,
): Promise<Wait> {
  const now = parts.storeNow()
  const since = await ctx.step(`wait for ${name}`, () => now)
  const waited = now - since
  if (deadline !== undefined && waited >= deadline)
    throw new DeadlineError(`${description}, after ${sayDuration(deadline)}.`)
  const pause = Math.min(longestPause, Math.max(shortestPause, waited / 4))
  return ctx.wait(Math.ceil(deadline === undefined ? pause : Math.min(pause, deadline - waited)), description)
}

/** The broker has no right to make it, nor to look whether it is there: so there is none of ours. */
export class UnmadeError extends TerminalError {
  readonly key: string

  constructor(message: string, key: string, cause: unknown) {
    super(message, { cause })
    this.key = key
  }
}

/** It took too long, and may still become ready: what was made stays, and is looked at. */
export class DeadlineError extends TerminalError {}

export function look(running: Running, placed: Placed): Promise<KubernetesObject | undefined> {
  if (placed.given.labels !== undefined) return running.findLabelled(placed)
  return running.find(placed.kind, placed.namespace, placed.object)
}

export function refOf({ given, namespace, object, shared }: Placed, passing = false): Ref {
  const { name, apiVersion, kind } = given
  const mode = given.mode === 'patch' ? 'patch' : 'object'
  const marked = (mode === 'patch' || shared !== undefined) && { marked: true }
  return { name, mode, apiVersion, kind, namespace, object, shared, ...marked, ...(passing && { passing }) }
}

/**
 * What an observation puts back of a binding is what its bind has made: the instance may have other parameters by then, and the
 * credentials that were given out stay as they are.
 */
function keptOf(running: Running, placed: Placed, passing: boolean): Pick<Ref, 'body'> {
  return running.owner.binding === undefined || passing ? {} : { body: toApplied(running, placed) }
}

/** Before it is made. */
export async function note({ ctx, state }: Running, ref: Ref): Promise<void> {
  const { objects } = state
  const known = objects.find(one => keyOf(one) === keyOf(ref))
  if (known?.apiVersion === ref.apiVersion && JSON.stringify(known.body) === JSON.stringify(ref.body)) return
  // It is removed by the version that was used last: the cluster may not serve an older one by then.
  const { apiVersion, body } = ref
  const noted = known ? objects.map(one => (one === known ? { ...one, apiVersion, body } : one)) : [...objects, ref]
  await ctx.saveState({ objects: toJsonRefs(noted) })
}

export interface ApplyOptions {
  readonly force: boolean
  readonly dryRun?: boolean
  readonly signal: AbortSignal
}

/** Makes or changes it. Throws where it is there and is not ours, and where a patch has nothing to change. */
export async function applyPlaced(running: Running, placed: Placed, options: ApplyOptions): Promise<KubernetesObject> {
  const { given, kind, namespace, object, shared } = placed
  const { owner } = running
  const what = nameOf({ kind: given.kind, object })
  const found = await running.find(kind, namespace, object)
  if (given.mode === 'patch' && found === undefined)
    throw new TerminalError(`${what} is not there, and is not made here: it is only changed.`)
  const isOurs = found?.metadata.labels?.[ownerLabel] === ownerIdOf(owner, shared)
  if (given.mode === 'object' && found !== undefined && !isOurs)
    throw new TerminalError(`${what} is there already, and was not made for this instance: give it another name.`)
  const { metadata, ...rest } = toApplied(running, placed)
  // It is this one that is changed, and none that takes its place meanwhile.
  const uid = given.mode === 'patch' && { uid: found?.metadata.uid }
  const applied = { ...rest, metadata: { ...(metadata as JsonObject), ...uid } }
  const manager = managerOf(owner, shared)
  return running.ask(what, ({ cluster }) =>
    applyObject<KubernetesObject>(cluster, kind.path(namespace, object), applied, { ...options, manager }),
  )
}

/** The object with all that we write on it. */
function toApplied({ owner, compiled }: Running, placed: Placed): JsonObject {
  const { given, body, namespace, object, shared } = placed
  if (placed.applied !== undefined) return placed.applied
  const metadata = isJsonObject(body.metadata) ? body.metadata : {}
  const order = bundleActions.flatMap(action => compiled.actions[action]).indexOf(given)
  const own = given.mode === 'object' ? ownMetadata(owner, { shared, order }) : undefined
  const marks = marksOf(owner, { shared, mode: given.mode })
  const withOurs = (of: 'labels' | 'annotations') => {
    const all = { ...(isJsonObject(metadata[of]) && metadata[of]), ...own?.[of], ...marks[of] }
    return Object.keys(all).length === 0 ? undefined : all
  }
  const where = { name: object, ...(namespace !== undefined && { namespace }) }
  const ours = { labels: withOurs('labels'), annotations: withOurs('annotations') }
  // As the ledger keeps it: without what is undefined.
  return JSON.parse(JSON.stringify({ ...body, metadata: { ...metadata, ...where, ...ours } }))
}
