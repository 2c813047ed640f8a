import { isJsonObject, type Json, type JsonObject } from '../protocol/json.ts'
import { canCompile, withinLimits } from './pattern.ts'

/**
 * Whether a schema has only usual words, and each is used as every draft allows it: then it is valid, and nobody has to load
 * a compiler to know that. What is not plain is not wrong: the compiler has to say.
 */
export function isPlainSchema({ $schema: _, ...schema }: JsonObject): boolean {
  return withinLimits(() => isPlain(schema, 0))
}

type Check = (value: Json | undefined, depth: number) => boolean

/** More levels are for the compiler, which may have a limit. */
const deepest = 20

const isPlain: Check = (schema, depth) =>
  isJsonObject(schema) &&
  depth < deepest &&
  Object.entries(schema).every(([word, value]) => Object.hasOwn(words, word) && words[word]?.(value, depth + 1))

const isText: Check = value => typeof value === 'string'
const isNumber: Check = value => typeof value === 'number'
const isCount: Check = value => typeof value === 'number' && Number.isInteger(value) && value >= 0
const isFlag: Check = value => typeof value === 'boolean'
const isListOf = (value: Json | undefined, is: (item: Json) => boolean): value is Json[] =>
  Array.isArray(value) && value.length > 0 && value.every(is)
const isSetOf = (value: Json | undefined, is: (item: Json) => boolean) =>
  isListOf(value, is) && new Set(value).size === value.length
const isSchemas: Check = (value, depth) => isListOf(value, item => isPlain(item, depth))
const isMap: Check = (value, depth) =>
  isJsonObject(value) && Object.entries(value).every(([name, item]) => name !== '__proto__' && isPlain(item, depth))

const types: ReadonlySet<unknown> = new Set(['object', 'array', 'string', 'number', 'integer', 'boolean', 'null'])

const words: Readonly<Record<string, Check>> = {
  title: isText,
  description: isText,
  default: () => true,
  type: value => types.has(value) || isSetOf(value, name => types.has(name)),
  enum: value => isSetOf(value, item => typeof item !== 'object'),
  properties: isMap,
  required: value => isSetOf(value, name => typeof name === 'string'),
  additionalProperties: (value, depth) => isFlag(value, depth) || isPlain(value, depth),
  minProperties: isCount,
  maxProperties: isCount,
  items: isPlain,
  minItems: isCount,
  maxItems: isCount,
  uniqueItems: isFlag,
  minimum: isNumber,
  maximum: isNumber,
  minLength: isCount,
  maxLength: isCount,
  pattern: value => typeof value === 'string' && canCompile(value),
  allOf: isSchemas,
  anyOf: isSchemas,
  oneOf: isSchemas,
}
