import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { isJsonObject, type JsonObject, parseJson } from '../protocol/json.ts'
import { messageOf } from '../shape/thrown.ts'
import { wrongUsage } from './cli-error.ts'
import { applyParam } from './param.ts'

export interface ParameterOptions {
  /** `key=value`, in order. */
  readonly param?: readonly string[]
  /** JSON, or `@file`; so is the context. */
  readonly params?: string
  readonly context?: string
}

export interface Input {
  readonly parameters: JsonObject | undefined
  readonly context: JsonObject | undefined
  /** The parameters with every `--param` as the schema of the plan takes it. */
  typedBy(schema: JsonObject | undefined): Promise<JsonObject | undefined>
}

/** What the options hold, undefined where they were not given. `--params` comes first, then every `--param` over it. */
export async function readParameters({ params, param, context }: ParameterOptions, cwd: string): Promise<Input> {
  const base = params === undefined ? undefined : await readJsonOption('--params', params, cwd)
  const parameters = param === undefined ? base : param.reduce((before, text) => applyParam(before, text), base ?? {})
  return {
    parameters,
    context: context === undefined ? undefined : await readJsonOption('--context', context, cwd),
    async typedBy(schema) {
      if (param === undefined || schema === undefined) return parameters
      const { applyTypedParams } = await import('./typed-params.ts')
      return applyTypedParams(base ?? {}, param, schema)
    },
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
