import type { ObservedBinding } from '../../author/context.ts'
import type { ObserveResult } from '../../author/results.ts'
import type { CompiledObject } from '../../bundle/manifest-templates.ts'
import type { KubernetesObject } from '../../kubernetes/objects.ts'
import type { JsonObject } from '../../protocol/json.ts'
import { observeOne, type Seen } from './observe-one.ts'
import { ownerIdOf, readManifestState } from './refs.ts'
import { openRunning, type Running } from './running.ts'

/**
 * Looks at every object of the instance, in order, and then at those of its bindings, and puts back what others have deleted or
 * changed. What a provision that ran out of time has not made yet is made now: so it heals.
 */
export async function observeObjects(
  running: Running,
  bindings: () => Promise<readonly ObservedBinding<JsonObject>[]>,
): Promise<ObserveResult> {
  const { state } = running
  if (state.refused !== undefined) return { ready: false, reason: 'Refused', message: state.refused.message }
  const seen = await observeInstance(running)
  if (state.made) seen.push(...(await observeBindings(running, await bindings())))
  const problems = seen.flatMap(({ problem }) => problem ?? [])
  const [first] = problems
  if (first !== undefined) {
    const message = sayAll(problems.map(one => one.message))
    return { ready: false, degraded: state.made, reason: first.reason, message }
  }
  const repaired = seen.flatMap(one => one.repaired ?? [])
  return repaired.length === 0 ? { ready: true } : { ready: true, reason: 'Repaired', message: sayAll(repaired, '; ') }
}

/** One instance may have very many bindings. */
const mostTold = 10

function sayAll(texts: readonly string[], separator = ' '): string {
  const more = texts.length - mostTold
  return [...texts.slice(0, mostTold), ...(more > 0 ? [`and ${more} more`] : [])].join(separator)
}

/** Until the first one that is not as it should be: those after it may need it. */
async function observeInstance(running: Running): Promise<Seen[]> {
  const { ctx, state, compiled } = running
  const all: Seen[] = []
  for (const given of compiled.actions.provision) {
    if (!running.isWanted(given)) continue
    const seen = await observeOne(running, given, {
      find: () => running.place(given),
      name: given.name,
      count: running,
    })
    all.push(seen)
    if (seen.problem !== undefined) return all
  }
  const values = running.compute('The state', () => compiled.state.render(running.values())) as JsonObject
  if (!state.made || JSON.stringify(values) !== JSON.stringify(state.values))
    await ctx.saveState({ values, made: true })
  return all
}

/** What its bind has made of each of them, as the ledger has it: nothing new is made for a binding here. */
async function observeBindings(running: Running, bindings: readonly ObservedBinding<JsonObject>[]): Promise<Seen[]> {
  const { ctx, service, compiled } = running
  const all: Seen[] = []
  for (const { binding: info, parameters, bindingState } of bindings) {
    const own = () => bindingState as JsonObject
    const { objects, made } = readManifestState(own())
    // One that an older version has made did not keep what it was made of.
    if (!made || objects.every(({ body }) => body === undefined)) continue
    const subject = { ctx, action: 'observe', parameters: ctx.instance.parameters, state: running.ownState() } as const
    const bound = await openRunning(service, { ...subject, binding: { info, parameters }, own })
    for (const [name, live] of Object.entries(running.values().objects as JsonObject))
      bound.remember(name, live as unknown as KubernetesObject)
    for (const ref of objects) {
      const { body } = ref
      if (body === undefined) continue
      // A later revision may have another one of that name.
      const known = compiled.actions.bind.find(
        ({ name, kind, mode }) => name === ref.name && kind === ref.kind && mode === ref.mode,
      )
      const { name, mode, apiVersion, kind } = ref
      const given: CompiledObject = known ?? {
        ...{ name, mode, apiVersion, kind, force: true, readyWhen: [], template: compiled.namespace },
      }
      all.push(
        await observeOne(bound, given, {
          find: () => bound.placeAgain(given, { ...ref, body }),
          name: `${ownerIdOf(bound.owner)}/${ref.name}`,
          count: running,
          of: ` of the binding ${info.id}`,
        }),
      )
    }
  }
  return all
}
