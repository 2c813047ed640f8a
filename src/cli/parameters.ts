import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { isJsonObject, type Json, type JsonObject, parseJson } from '../protocol/json.ts'
import { messageOf } from '../shape/thrown.ts'
import { wrongUsage } from './cli-error.ts'

export interface ParameterOptions {
  /** `key=value`, in order. */
  readonly param?: readonly string[]
  /** JSON, or `@file`; so is the context. */
  readonly params?: string
  readonly context?: string
}

/** What the options hold, undefined where they were not given. `--params` comes first, then every `--param` over it. */
export async function readParameters({ params, param, context }: ParameterOptions, cwd: string) {
  const base = params === undefined ? undefined : await readJsonOption('--params', params, cwd)
  return {
    parameters: param === undefined ? base : param.reduce(applyParam, base ?? {}),
    context: context === undefined ? undefined : await readJsonOption('--context', context, cwd),
  }
}

/** The object in `{"a":1}` or in the file of `@a.json`. */
export async function readJsonOption(flag: string, value: string, cwd: string): Promise<JsonObject> {
  const file = value.startsWith('@') ? value.slice(1) : undefined
  const text = file === undefined ? value : await readNamedFile(flag, () => readFile(resolve(cwd, file), 'utf8'))
  const parsed = parseJson(text)
  if (isJsonObject(parsed)) return parsed
  throw wrongUsage({
    what: `${flag} is not a JSON object`,
    why: file === undefined ? 'the text does not parse as one' : `${file} does not hold one`,
    next: `Write ${flag} '{"key": "value"}', or ${flag} @file.json.`,
  })
}

/** `size=3` sets a number, `name=db` a string, `limits.cpu=2` an inner key. */
export function applyParam(base: JsonObject, text: string): JsonObject {
  const at = text.indexOf('=')
  const path = text.slice(0, at).split('.')
  if (at < 1 || path.includes(''))
    throw wrongUsage({
      what: '--param needs a key and a value',
      // The value may be a secret: only the key is shown.
      why: at < 1 ? 'there is no "key=" in front' : `the key "${text.slice(0, at)}" has an empty part`,
      next: 'Write --param key=value, or --param outer.inner=value.',
    })
  return setPath(base, path, parseValue(text.slice(at + 1)), path.join('.'))
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

/** What `read` makes of the file that an option names. */
export async function readNamedFile<Content>(flag: string, read: () => Promise<Content>): Promise<Content> {
  try {
    return await read()
  } catch (error) {
    throw wrongUsage({
      what: `${flag} names a file that cannot be used`,
      why: messageOf(error),
      next: 'Check the path; it is relative to the current folder.',
    })
  }
}
