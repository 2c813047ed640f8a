import { createReadStream } from 'node:fs'
import { extname, resolve } from 'node:path'
import { isJsonObject, type Json, type JsonObject, parseJson } from '../protocol/json.ts'
import { wrongUsage } from './cli-error.ts'
import type { CliIo } from './io.ts'
import { readNamedFile } from './parameters.ts'

export interface Item {
  /** Where it stands, for people: `line 3` or `item 3`. */
  readonly at: string
  readonly value: JsonObject
}

/** The objects of a file: one a line (NDJSON), or a list in JSON or YAML. `-` is stdin. */
export async function readItems(io: CliIo, flag: string, file: string): Promise<readonly Item[]> {
  const source = file === '-' ? io.stdin : createReadStream(resolve(io.cwd, file))
  const text = await readNamedFile(flag, async () => {
    const pieces: Buffer[] = []
    for await (const piece of source) pieces.push(Buffer.from(piece))
    return Buffer.concat(pieces).toString('utf8')
  })
  const isYaml = ['.yaml', '.yml'].includes(extname(file))
  const whole = isYaml ? await parseYaml(text, file) : /^\s*\[/.test(text) ? parseJson(text) : undefined
  if (whole !== undefined || isYaml) {
    if (!Array.isArray(whole)) throw notItems(file, 'it is not a list')
    return whole.map((value, index) => toItem(file, `item ${index + 1}`, value))
  }
  return text
    .split('\n')
    .map((line, index) => ({ line, at: `line ${index + 1}` }))
    .filter(({ line }) => line.trim() !== '')
    .map(({ line, at }) => toItem(file, at, parseJson(line)))
}

async function parseYaml(text: string, name: string): Promise<Json | undefined> {
  const { readYaml } = await import('../shape/yaml.ts')
  const { documents, faults } = readYaml(text, { name })
  const [fault] = faults
  if (fault !== undefined) throw notItems(name, fault.problem)
  return documents[0]?.root as Json | undefined
}

function toItem(file: string, at: string, value: Json | undefined): Item {
  if (!isJsonObject(value)) throw notItems(file, `${at} is not a JSON object`)
  return { at, value }
}

export function notItems(file: string, why: string) {
  return wrongUsage({
    what: `${file} cannot be read: nothing was sent`,
    why,
    next: 'Write one JSON object a line, or a list of them in JSON or YAML.',
  })
}
