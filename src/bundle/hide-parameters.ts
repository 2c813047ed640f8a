import { hideProperties } from './hide-properties.ts'
import type { BundleParameter, BundleParameters, BundleSpec } from './spec.ts'

/**
 * The spec as users see it where the operator himself gives these parameters of every plan: they may neither be given nor
 * be asked for. A condition on one of them is dropped, since nobody else knows its value.
 */
export function hideParameters(spec: BundleSpec, names: readonly string[]): BundleSpec {
  if (names.length === 0) return spec
  const hidden = new Set(names)
  return { ...spec, plans: spec.plans.map(plan => ({ ...plan, parameters: hide(plan.parameters, hidden) })) }
}

function hide(parameters: BundleParameters, hidden: ReadonlySet<string>): BundleParameters {
  if (parameters.kind === 'schema') return { kind: 'schema', schema: hideProperties(parameters.schema, hidden) }
  const list = parameters.list.filter(({ name }) => !hidden.has(name)).map(one => withoutCondition(one, hidden))
  return { kind: 'list', list }
}

/** Beside any value of a hidden parameter means always. Beside some of them: it may be given, and nothing more is known. */
function withoutCondition(parameter: BundleParameter, hidden: ReadonlySet<string>): BundleParameter {
  const { dependsOn, ...rest } = parameter
  if (dependsOn === undefined || !hidden.has(dependsOn.key)) return parameter
  if (dependsOn.values === undefined) return rest
  const { default: _, ...free } = rest
  return { ...free, required: false }
}
