import { copyJson } from '../shape/check-json.ts'
import { anything } from '../shape/fields.ts'
import { FaultError } from '../shape/limits.ts'
import type { Mistake } from '../shape/mistake.ts'
import { fromCode, type Source } from '../shape/place.ts'
import { readPlainYaml } from '../shape/plain-yaml.ts'
import { normalize } from '../shape/read.ts'
import { readYaml, type Yaml } from '../shape/yaml.ts'

export type SourceReading =
  | { readonly ok: true; readonly source: Source }
  | { readonly ok: false; readonly mistakes: readonly Mistake[] }

/** More than any honest spec needs, and few enough to be read at once. */
export const maxBytes = 1024 * 1024
const maxValues = 100_000

/** YAML text, or a value that somebody else has parsed. `where` is what mistakes call it. */
export function readSource(given: unknown, where = ''): SourceReading {
  const { documents, faults, isPlain } = typeof given === 'string' ? readText(given, where) : readValue(given)
  const whole = { source: where }
  const [source = fromCode(null)] = documents
  const found = faults.length > 0 || isPlain ? faults : normalize(anything('a value'), source).mistakes
  if (found.length === 0) return { ok: true, source: { place: whole, ...source } }
  return { ok: false, mistakes: found.map(mistake => ({ ...mistake, place: mistake.place ?? whole })) }
}

/** Copied, to be sure that it is plain JSON. */
function readValue(value: unknown): ReadText {
  try {
    return { documents: [fromCode(copyJson(value, maxValues))], faults: [] }
  } catch (error) {
    if (error instanceof FaultError) return { documents: [], faults: [error.fault] }
    throw error
  }
}

interface ReadText extends Yaml {
  /** It can have no tags. */
  readonly isPlain?: boolean
}

function readText(text: string, where: string): ReadText {
  const yaml: ReadText =
    readWrittenJson(text, where) ?? readPlain(text, where) ?? readYaml(text, { name: where, maxBytes, maxValues })
  const [first, second] = yaml.documents
  if (yaml.faults.length > 0) return yaml
  if (first === undefined || first.root === null)
    return refuse({ source: where, line: 1 }, 'it is empty', 'write version, name, description and plans')
  return second === undefined
    ? yaml
    : refuse(second.place, 'a second document begins here', 'keep one spec in one file')
}

/**
 * JSON as `JSON.stringify` writes it, in a hundredth of the time: one line, whose values are written as they are. Undefined
 * where it is anything else, or has a fault: its place is for the other reader to find.
 */
function readWrittenJson(text: string, where: string): Yaml | undefined {
  if (!/^[[{]/.test(text) || Buffer.byteLength(text) > maxBytes) return undefined
  try {
    const value: unknown = JSON.parse(text)
    if (JSON.stringify(value) !== text) return undefined
    return { documents: [{ ...fromCode(copyJson(value, maxValues)), place: { source: where, line: 1 } }], faults: [] }
  } catch {
    return undefined
  }
}

/** Its reader has a limit of lines, and no aliases: it cannot have too many values. */
function readPlain(text: string, where: string): ReadText | undefined {
  const source = text.length > maxBytes / 4 ? undefined : readPlainYaml(text, where)
  return source && { documents: [source], faults: [], isPlain: true }
}

function refuse(place: Mistake['place'], problem: string, remedy: string): Yaml {
  return { documents: [], faults: [{ path: [], place, problem, remedy }] }
}

/** People keep what they use several times by an alias under such keys. */
export function isScratch(key: string): boolean {
  return key.startsWith('_') || key.startsWith('x-')
}
