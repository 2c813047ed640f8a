import type { RegistrySettings } from '../../registry/settings.ts'
import { isObject, placeOf, type Source, showPlace, valueAt } from '../../shape/place.ts'
import type { Mistake } from './mistake.ts'

export interface ReadRegistries {
  readonly registries: readonly RegistrySettings[]
  readonly mistakes: readonly Mistake[]
  /** What is allowed and hardly meant, a line each. */
  readonly warnings: readonly string[]
}

/** Takes the registries out of the tree. The code that reads them is loaded only where there are some. */
export async function takeRegistries(source: Source, folder: string): Promise<ReadRegistries> {
  const given = valueAt(source.root, ['registries'])
  if (given === undefined) return { registries: [], mistakes: [], warnings: [] }
  const { parseRegistrySettings } = await import('../../registry/parse-settings.ts')
  const { settings = [], problems } = parseRegistrySettings(asWritten(given, source), 'registries', { folder })
  const found = problems.map(({ severity, path, problem }) => {
    const whole = path === '' || path.startsWith('[') ? `registries${path}` : `registries.${path}`
    const place = placeOf(source, toKeys(whole))
    return { severity, mistake: { where: place && showPlace(place), path: whole, problem } }
  })
  if (isObject(source.root)) delete source.root.registries
  return {
    registries: settings,
    mistakes: found.filter(({ severity }) => severity === 'error').map(({ mistake }) => mistake),
    warnings: found
      .filter(({ severity }) => severity === 'warning')
      .map(({ mistake: { where = '', path, problem } }) => `${where} ${path}: ${problem}`.trim()),
  }
}

/** A tag such as 1.10 is not a number, though YAML takes it for one. */
function asWritten(value: unknown, source: Source, text?: string): unknown {
  if (typeof value === 'number') return text ?? value
  if (typeof value !== 'object' || value === null) return value
  const textOf = (key: string | number) => source.places.get(value)?.get(key)?.text
  if (Array.isArray(value)) return value.map((item, index) => asWritten(item, source, textOf(index)))
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, asWritten(item, source, textOf(key))]))
}

function toKeys(path: string): (string | number)[] {
  const keys = path.split(/[.[\]]+/).filter(key => key !== '')
  return keys.map(key => (/^\d+$/.test(key) ? Number(key) : key))
}
