import type { ObserveResult } from '../../author/results.ts'
import type { CompiledObject } from '../../bundle/manifest-templates.ts'
import type { Call } from '../../engine/call.ts'
import { TerminalError } from '../../engine/errors.ts'
import type { KubernetesObject } from '../../kubernetes/objects.ts'
import type { JsonObject } from '../../protocol/json.ts'
import { isSame } from './compare.ts'
import { applyPlaced, callSettings, look, note, refOf } from './make.ts'
import { judgeReadiness } from './readiness.ts'
import { keyOf, managerPrefix, nameOf, type Ref, toJsonRefs } from './refs.ts'
import type { Placed, Running } from './running.ts'

/** Of one object in an hour: whoever changes it more often than that means it, and is told of. */
const mostRepairs = 3
const repairWindow = 3_600_000

interface Seen {
  readonly problem?: { readonly reason: string; readonly message: string }
  readonly repaired?: string
}

/**
 * Looks at every object of the instance, in order, and puts back what others have deleted or changed. What a provision that ran
 * out of time has not made yet is made now: so it heals.
 */
export async function observeObjects(running: Running): Promise<ObserveResult> {
  const { ctx, state, compiled } = running
  if (state.refused !== undefined) return { ready: false, reason: 'Refused', message: state.refused.message }
  const repaired: string[] = []
  for (const given of compiled.actions.provision) {
    if (!running.isWanted(given)) continue
    const { problem, repaired: put } = await observeOne(running, given)
    if (put !== undefined) repaired.push(put)
    if (problem !== undefined) return { ready: false, degraded: state.made, ...problem }
  }
  const values = running.compute('The state', () => compiled.state.render(running.values())) as JsonObject
  if (!state.made || JSON.stringify(values) !== JSON.stringify(state.values))
    await ctx.saveState({ values, made: true })
  if (repaired.length === 0) return { ready: true }
  return { ready: true, reason: 'Repaired', message: repaired.join('; ') }
}

async function observeOne(running: Running, given: CompiledObject): Promise<Seen> {
  try {
    const placed = await running.place(given)
    const what = nameOf({ kind: given.kind, object: placed.object })
    const before = await look(running, placed)
    const seen = given.mode === 'read' ? { live: before } : await repair(running, placed, before)
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

async function repair(running: Running, placed: Placed, before: KubernetesObject | undefined): Promise<Repaired> {
  const { ctx, parts, state } = running
  const { given } = placed
  const what = nameOf({ kind: given.kind, object: placed.object })
  const now = parts.storeNow()
  const lately = (state.repairs[given.name] ?? []).filter(at => at > now - repairWindow)
  if (before?.metadata.deletionTimestamp !== undefined)
    return { problem: { reason: 'Deleting', message: `${what} is in deletion, which was not asked for here.` } }
  if (given.mode === 'patch' && before === undefined)
    return {
      problem: { reason: 'Missing', message: `${what} is not there, and is not made here: it is only changed.` },
    }
  const ref = refOf(placed)
  const noted = state.objects.find(one => keyOf(one) === keyOf(ref))
  const unmarked = noted !== undefined && noted.marked !== ref.marked
  if (lately.length >= mostRepairs) {
    const wanted = await applyPlaced(running, placed, { force: true, dryRun: true, signal: ctx.signal })
    if (isSame(before, wanted, { unmarked })) return { live: before }
    const message = `${what} was changed by ${changersOf(before)} and put back ${mostRepairs} times in an hour; it is left alone for now.`
    return { problem: { reason: 'Contested', message } }
  }
  await note(running, ref)
  let applied: KubernetesObject | undefined
  const apply = async ({ signal }: Call) => {
    applied = await applyPlaced(running, placed, { force: true, signal })
  }
  // Its claim stands, so nobody removes it meanwhile.
  if (placed.shared !== undefined) await ctx.share(placed.shared, apply)
  if (applied === undefined) await ctx.step(`keep ${given.name}`, apply, callSettings)
  // An earlier run of this observation may have done the step.
  const live = applied ?? before
  if (unmarked) await noteMark(running, ref)
  if (isSame(before, live, { unmarked }) || !state.made) return { live }
  await ctx.saveState({ repairs: { ...running.state.repairs, [given.name]: [...lately, now] } })
  const how = before === undefined ? 'was deleted' : `was changed by ${changersOf(before)}`
  return { live, repaired: `${what} ${how}, and put back` }
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
