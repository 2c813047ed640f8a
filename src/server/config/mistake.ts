import { configShape } from '../../settings/config.ts'
import { describeAt, listFields } from '../../shape/describe.ts'
import { explain, type FieldMistake, type Mistake } from '../../shape/mistake.ts'
import { type Path, showPath, showPlace } from '../../shape/place.ts'
import { suggest } from '../../shape/suggest.ts'

/** Every mistake of a configuration, a line each. No line holds a secret's value. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
  readonly mistakes: readonly Mistake[]

  constructor(mistakes: readonly Mistake[]) {
    const count = mistakes.length === 1 ? 'a mistake' : `${mistakes.length} mistakes`
    super([`The configuration has ${count}:`, ...mistakes.map(mistake => `  ${formatMistake(mistake)}`)].join('\n'))
    this.mistakes = mistakes
  }
}

/** `purser.yaml:12 server.port: …`; a mistake may have no place, and one that is not about a setting has no path. */
export function formatMistake(mistake: Mistake): string {
  const { place, path } = mistake
  const head = [place && showPlace(place), showPath(path)].filter(Boolean).join(' ')
  return head === '' ? explain(mistake) : `${head}: ${explain(mistake)}`
}

/** What a shape has found, with settings of other sections among the suggestions. */
export function toMistake(mistake: FieldMistake): Mistake {
  return mistake.kind === 'unknown'
    ? { ...mistake, problem: 'unknown setting', remedy: suggestSetting(mistake.path) }
    : mistake
}

function suggestSetting(path: Path): string {
  const section = path.slice(0, -1)
  const key = String(path.at(-1))
  const known = [...(describeAt(configShape, section)?.fields?.keys() ?? [])]
  const near = suggest(key, known)
  const meant = near === undefined ? findElsewhere(key) : showPath([...section, near])
  return meant === undefined ? `known here: ${known.join(', ')}` : `did you mean ${meant}?`
}

/** A setting of that name, or nearly, in another section. */
function findElsewhere(key: string): string | undefined {
  const paths = listFields(configShape).map(({ path }) => path)
  const names = paths.map(path => path.at(-1) ?? '')
  const name = suggest(key, names)
  const path = name === undefined ? undefined : paths[names.indexOf(name)]
  return path?.join('.').replaceAll('.[]', '[]')
}
