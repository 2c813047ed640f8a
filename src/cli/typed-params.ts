import { compileSchema, type Validate } from '../catalog/compile-schema.ts'
import type { JsonObject } from '../protocol/json.ts'
import { applyParam, pathOf } from './param.ts'

/**
 * Puts each `--param` over the base: JSON where it parses, but text where the schema takes only that (`version=9.6`). What
 * the schema takes neither way is left for the broker to refuse.
 */
export async function applyTypedParams(
  base: JsonObject,
  params: readonly string[],
  schema: JsonObject,
): Promise<JsonObject> {
  // A schema that is not one judges nothing.
  const validate: Validate = await compileSchema(schema).catch(() => () => [])
  return params.reduce((before, param) => {
    const pointer = pathOf(param)
      .map(key => `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`)
      .join('')
    // The check fills defaults in: it gets a copy.
    const fits = (parameters: JsonObject) =>
      !validate(structuredClone(parameters)).some(({ instancePath }) => `${instancePath}/`.startsWith(`${pointer}/`))
    const parsed = applyParam(before, param)
    const asText = applyParam(before, param, value => value)
    return !fits(parsed) && fits(asText) ? asText : parsed
  }, base)
}
