import type { ParameterSchema } from '../catalog/parameters.ts'
import { BrokerError } from '../protocol/errors.ts'
import type { JsonObject } from '../protocol/json.ts'

/**
 * Checks now and complains later: a decision asks for the parameters only after every check that comes before them. The
 * complaint names fields and rules, never values.
 */
export async function checkParameters(
  schema: ParameterSchema<unknown> | undefined,
  input: JsonObject,
): Promise<() => JsonObject> {
  const checked = schema === undefined ? { ok: true as const, value: input } : await schema.check(input)
  return () => {
    if (checked.ok) return checked.value
    throw new BrokerError('InvalidParameters', `The parameters are not valid: ${checked.problems.join('; ')}.`)
  }
}
