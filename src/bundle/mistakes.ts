import { describeAt } from '../shape/describe.ts'
import { explain, type FieldMistake, type Mistake } from '../shape/mistake.ts'
import { type Path, placeOf, quoted, type Source, showPath, showPlace } from '../shape/place.ts'
import type { Shape } from '../shape/shape.ts'

/** `bundle.yml:12: plans[0].name: error: …` */
export function formatMistake(mistake: Mistake): string {
  const { severity = 'error', path, place } = mistake
  const head = [place && showPlace(place), showPath(path)].filter(part => part !== undefined && part !== '')
  return [...head, severity, explain(mistake)].join(': ')
}

/** Where a path of the shape is in a source: as far as it goes there, with keys as they were written. */
export function locate(source: Source, path: Path): Pick<Mistake, 'path' | 'place'> {
  const written: (string | number)[] = []
  let value = source.root
  for (const part of path) {
    if (typeof value !== 'object' || value === null) break
    const key = Object.hasOwn(value, part) ? part : Object.keys(value).find(one => camelCase(one) === part)
    if (key === undefined) break
    written.push(key)
    value = Reflect.get(value, key)
  }
  return { path: written, place: placeOf(source, written) }
}

/** A mistake in the words of a shape becomes one in the words of specs, where it stands in the source. */
export function toSpecMistake(shape: Shape, source: Source, mistake: FieldMistake): Mistake {
  const found = locate(source, mistake.path)
  return { severity: mistake.severity, ...found, ...inWords(shape, mistake, String(found.path.at(-1))) }
}

function inWords(shape: Shape, mistake: FieldMistake, written: string): Pick<Mistake, 'problem' | 'remedy'> {
  const { kind, path, found, type, rule, hint, problem, remedy } = mistake
  const noun = (at: Path) => describeAt(shape, at)?.info.noun
  const what = noun(path) ?? quoted(written)
  const usual = usualRemedies[rule]
  switch (kind) {
    case 'missing': {
      const key = String(path.at(-1))
      const owner = noun(path.slice(0, -1))?.replace(/^an? /, 'the ')
      return { problem: `${owner} has no ${key}`, remedy: hint ?? `give it one with "${key}"` }
    }
    case 'wrong':
      if (type === rule) return { problem: `${what} is empty`, remedy: 'give it a text' }
      return { problem: `${what} must be ${rule}, not ${usual ? type : found}`, remedy: hint ?? usual }
    case 'rule':
      return { problem: rule }
    case 'unknown':
      return { problem: `${what} ${problem} and has no effect`, remedy }
    default:
      return { problem: `${what} ${problem}`, remedy }
  }
}

/** For rules that ask for no more than a kind of value. */
const usualRemedies: Readonly<Record<string, string>> = {
  'a text': 'write it in quotes',
  'true or false': 'write it without quotes',
  'a map': 'write keys and values',
  'a list': 'begin each entry with "- "',
}

/** `max_length` and `maxLength` are one key. */
export function camelCase(key: string): string {
  if (!key.includes('_')) return key
  return key.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
}
