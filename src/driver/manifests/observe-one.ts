import type { CompiledObject } from '../../bundle/manifest-templates.ts'
import type { Call } from '../../engine/call.ts'
import { TerminalError } from '../../engine/errors.ts'
import type { KubernetesObject } from '../../kubernetes/objects.ts'
import type { JsonObject } from '../../protocol/json.ts'
import { isSame } from './compare.ts'
import { applyPlaced, callSettings, look, note, refOf } from './make.ts'
import { judgeReadiness } from './readiness.ts'
import { keyOf, type ManifestState, managerPrefix, nameOf, type Ref, toJsonRefs } from './refs.ts'
import type { Placed, Running } from './running.ts'

/** Of one object in an hour: whoever changes it more often than that means it, and is told of. */
const mostRepairs = 3
const repairWindow = 3_600_000

/** What has become of one object. */
export interface Seen {
  readonly problem?: { readonly reason: string; readonly message: string }
  readonly repaired?: string
}

/** Where an object goes, what it is called in the ledger, and who counts how often it was put back. */
export interface Observing {
  readonly find: () => Promise<Placed>
  readonly name: string
  readonly count: Running
  /** For people: whose it is. */
  readonly of?: string
}

export async function observeOne(running: Running, given: CompiledObject, observing: Observing): Promise<Seen> {
  try {
    const placed = await observing.find()
    const what = whatOf(placed, observing)
    const before = await look(running, placed)
    const seen = given.mode === 'read' ? { live: before } : await repair(running, placed, before, observing)
    if ('problem' in seen) return seen
    const { live, repaired } = seen
    if (live === undefined) return { problem: { reason: 'Missing', message: `${what} is not there.` } }
    const judged = judgeReadiness(given, live as unknown as JsonObject, running.values())
    if (judged.kind === 'ready') {
      running.remember(given.name, live)
      return { repaired }
    }
    const said = judged.text === undefined ? '' : `: ${running.redact(judged.text)}`
    return { repaired, problem: { reason: 'NotReady', message: `${what} is not ready${said}.` } }
  } catch (error) {
    if (!(error instanceof TerminalError)) throw error
    return { problem: { reason: 'Refused', message: error.message } }
  }
}

type Repaired = { readonly live?: KubernetesObject; readonly repaired?: string } | Required<Pick<Seen, 'problem'>>

async function repair(
  running: Running,
  placed: Placed,
  before: KubernetesObject | undefined,
  observing: Observing,
): Promise<Repaired> {
  const { ctx, parts, state } = running
  const { given } = placed
  const { name, count } = observing
  const what = whatOf(placed, observing)
  const now = parts.storeNow()
  const lately = (count.state.repairs[name] ?? []).filter(at => at > now - repairWindow)
  if (before?.metadata.deletionTimestamp !== undefined)
    return { problem: { reason: 'Deleting', message: `${what} is in deletion, which was not asked for here.` } }
  if (given.mode === 'patch' && before === undefined)
    return {
      problem: { reason: 'Missing', message: `${what} is not there, and is not made here: it is only changed.` },
    }
  const ref = refOf(placed)
  const noted = state.objects.find(one => keyOf(one) === keyOf(ref))
  const unmarked = noted !== undefined && noted.marked !== ref.marked && placed.applied === undefined
  if (lately.length >= mostRepairs) {
    const wanted = await applyPlaced(running, placed, { force: true, dryRun: true, signal: ctx.signal })
    if (isSame(before, wanted, { unmarked })) return { live: before }
    const message = `${what} was changed by ${changersOf(before)} and put back ${mostRepairs} times in an hour; it is left alone for now.`
    return { problem: { reason: 'Contested', message } }
  }
  // What is put back of a binding was noted by its bind.
  if (placed.applied === undefined) await note(running, ref)
  let applied: KubernetesObject | undefined
  const apply = async ({ signal }: Call) => {
    applied = await applyPlaced(running, placed, { force: true, signal })
  }
  // Its claim stands, so nobody removes it meanwhile.
  if (placed.shared !== undefined) await ctx.share(placed.shared, apply)
  if (applied === undefined) await ctx.step(`keep ${name}`, apply, callSettings)
  // An earlier run of this observation may have done the step.
  const live = applied ?? before
  if (unmarked) await noteMark(running, ref)
  if (isSame(before, live, { unmarked }) || !state.made) return { live }
  await ctx.saveState({ repairs: { ...recentRepairs(count, now), [name]: [...lately, now] } })
  const how = before === undefined ? 'was deleted' : `was changed by ${changersOf(before)}`
  return { live, repaired: `${what} ${how}, and put back` }
}

/** Those that still count: bindings come and go. */
function recentRepairs({ state: { repairs } }: Running, now: number): ManifestState['repairs'] {
  return Object.fromEntries(Object.entries(repairs).filter(([, times]) => times.some(at => at > now - repairWindow)))
}

function whatOf({ given, object }: Placed, { of = '' }: Observing): string {
  return `${nameOf({ kind: given.kind, object })}${of}`
}

/** Whoever takes the marks away from now on has changed the object. */
async function noteMark({ ctx, state }: Running, ref: Ref): Promise<void> {
  const marked = state.objects.map(one => (keyOf(one) === keyOf(ref) ? { ...one, marked: true } : one))
  await ctx.saveState({ objects: toJsonRefs(marked) })
}

/** Who has written to it besides us and our neighbours, as the cluster knows it. */
function changersOf(live: KubernetesObject | undefined): string {
  const { managedFields = [] } = live?.metadata ?? {}
  const others = managedFields.filter(
    ({ manager, subresource }) => manager?.startsWith(managerPrefix) !== true && !subresource,
  )
  return [...new Set(others.map(({ manager }) => manager))].join(', ') || 'somebody'
}
