import { isJsonObject, type Json, type JsonObject, parseJson } from '../protocol/json.ts'
import { wrongUsage } from './cli-error.ts'

/** `size=3` sets a number, `name=db` a string, `limits.cpu=2` an inner key. */
export function applyParam(base: JsonObject, text: string, parse: (value: string) => Json = parseValue): JsonObject {
  const at = text.indexOf('=')
  const path = pathOf(text)
  if (at < 1 || path.includes(''))
    throw wrongUsage({
      what: '--param needs a key and a value',
      // The value may be a secret: only the key is shown.
      why: at < 1 ? 'there is no "key=" in front' : `the key "${text.slice(0, at)}" has an empty part`,
      next: 'Write --param key=value, or --param outer.inner=value.',
    })
  return setPath(base, path, parse(text.slice(at + 1)), path.join('.'))
}

/** The keys of `limits.cpu=2`. */
export function pathOf(param: string): readonly string[] {
  return param.slice(0, param.indexOf('=')).split('.')
}

function setPath(base: JsonObject, path: readonly string[], value: Json, name: string): JsonObject {
  const [key = '', ...rest] = path
  if (rest.length === 0) return { ...base, [key]: value }
  const inner = Object.hasOwn(base, key) ? base[key] : {}
  if (!isJsonObject(inner))
    throw wrongUsage({
      what: `--param ${name} does not fit`,
      why: `"${key}" already has a value that is not an object`,
      next: 'Give the outer key an object, or leave one of the two off.',
    })
  return { ...base, [key]: setPath(inner, rest, value, name) }
}

function parseValue(text: string): Json {
  const value = parseJson(text)
  // A long number, such as an account's, would lose its last digits.
  const losesDigits = typeof value === 'number' && /^-?\d+$/.test(text) && !Number.isSafeInteger(value)
  return value === undefined || losesDigits ? text : value
}
