import type { BundleParameters, BundleSpec } from '../../bundle/spec.ts'
import { sensitiveProperties } from '../../catalog/sensitive-properties.ts'
import { type JsonObject, parseJson } from '../../protocol/json.ts'
import type { NamedSecret } from '../../sandbox.ts'
import { secretsIn } from '../../sensitive/secrets-in.ts'
import type { StateChanges } from './state.ts'

/** The names of all parameters that are secret in some plan: an instance may have moved from one to another. */
export interface SensitiveNames {
  readonly parameters: ReadonlySet<string>
  readonly bindParameters: ReadonlySet<string>
}

export function sensitiveNamesOf({ plans }: BundleSpec): SensitiveNames {
  return {
    parameters: new Set(plans.flatMap(plan => sensitiveNames(plan.parameters))),
    bindParameters: new Set(plans.flatMap(plan => sensitiveNames(plan.bindParameters))),
  }
}

/** The names of the parameters whose values are secrets, whole or in part. */
export function sensitiveNames(parameters: BundleParameters): readonly string[] {
  if (parameters.kind === 'list') return parameters.list.filter(({ sensitive }) => sensitive).map(({ name }) => name)
  return sensitiveProperties(parameters.schema)
}

/** The entries of all secrets, later ones over earlier ones. */
export function entriesOf(secrets: readonly NamedSecret[]): JsonObject {
  return Object.assign({}, ...secrets.map(({ entries }) => entries))
}

/** A bundle may keep a list or a map, which the ledger has as one text: what is in it is as secret as the whole. */
export function secretsInState(values: StateChanges): readonly string[] {
  return Object.values(values).flatMap(value => (value === null ? [] : [value, ...secretsIn(parseJson(value))]))
}

export function pickNamed(parameters: JsonObject, names: ReadonlySet<string>): JsonObject {
  return Object.fromEntries(Object.entries(parameters).filter(([name]) => names.has(name)))
}

export function omitNamed(parameters: JsonObject, names: ReadonlySet<string>): JsonObject {
  return Object.fromEntries(Object.entries(parameters).filter(([name]) => !names.has(name)))
}
