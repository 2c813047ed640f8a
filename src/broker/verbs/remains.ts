import type { Binding } from '../../domain/binding.ts'
import type { Instance } from '../../domain/instance.ts'
import { isJsonObject, type JsonObject } from '../../protocol/json.ts'
import type { AbandonedInstance } from './abandon.ts'

/** What an instance or a binding knew of when it was abandoned: names only, since the values may be secret. */
interface Left {
  readonly stateKeys: readonly string[]
  /** Sandboxes that may still be there. Each machine removes those that it reaches and that nobody needs. */
  readonly sandboxes: readonly string[]
}

export interface Remains extends Left {
  /** What acted on the instance, where it came from a registry. */
  readonly revisionId?: string
  readonly dashboardUrl?: string
  readonly bindings: readonly (Left & { readonly id: string })[]
  /** Nothing is created under the same id before: until then a call of before may still land. */
  readonly quietUntil?: number
}

/** What nobody has removed, and an operator has to look for by hand. */
export function remainsOf({ instance, bindings }: AbandonedInstance): Remains {
  const { before, after } = instance
  const isBundle = before.revisionId !== undefined
  return {
    ...leftOf(before, isBundle),
    revisionId: before.revisionId,
    dashboardUrl: before.dashboardUrl,
    bindings: bindings.map(({ before: row }) => ({ id: row.id, ...leftOf(row, isBundle) })),
    quietUntil: after.uncleanUntil,
  }
}

function leftOf({ state }: Pick<Instance | Binding, 'state'>, isBundle: boolean): Left {
  if (!isBundle) return { stateKeys: Object.keys(state), sandboxes: [] }
  const { state: values, sandbox, ...others } = state
  const named = isJsonObject(sandbox) && typeof sandbox.name === 'string' ? [sandbox.name] : []
  return { stateKeys: [...keysOf(values), ...Object.keys(others)], sandboxes: named }
}

/** What a bundle asked to be kept has a place of its own in the state. */
function keysOf(values: JsonObject[string]): string[] {
  return isJsonObject(values) ? Object.keys(values) : []
}
