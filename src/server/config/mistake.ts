import { configShape } from '../../settings/config.ts'
import { describeAt, listFields } from '../../shape/describe.ts'
import { explain, type Mistake as ShapeMistake } from '../../shape/mistake.ts'
import { type Path, showPath, showPlace } from '../../shape/place.ts'
import { suggest } from '../../shape/suggest.ts'

/** One thing that is wrong with the configuration: where, which setting, and what to do about it. */
export interface Mistake {
  /** `purser.yaml:12`, `PURSER_STORE`, `--port`; absent for what stands nowhere. */
  readonly where?: string
  /** The setting, such as `server.port` or `auth.basic[0].username`. */
  readonly path?: string
  readonly problem: string
}

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

export function formatMistake({ where, path, problem }: Mistake): string {
  const head = [where, path].filter(part => part !== undefined).join(' ')
  return head === '' ? problem : `${head}: ${problem}`
}

export function toMistake(mistake: ShapeMistake): Mistake {
  const { kind, path, place } = mistake
  const problem = kind === 'unknown' ? explainUnknown(path) : explain(mistake)
  return { where: place && showPlace(place), path: showPath(path), problem }
}

function explainUnknown(path: Path): string {
  const section = path.slice(0, -1)
  const key = String(path.at(-1))
  const known = [...(describeAt(configShape, section)?.fields?.keys() ?? [])]
  const near = suggest(key, known)
  const meant = near === undefined ? findElsewhere(key) : showPath([...section, near])
  return `unknown setting; ${meant === undefined ? `known here: ${known.join(', ')}` : `did you mean ${meant}?`}`
}

/** A setting of that name, or nearly, in another section. */
function findElsewhere(key: string): string | undefined {
  const paths = listFields(configShape).map(({ path }) => path)
  const name = suggest(
    key,
    paths.map(path => path.at(-1) ?? ''),
  )
  return paths
    .find(path => path.at(-1) === name)
    ?.join('.')
    .replaceAll('.[]', '[]')
}
