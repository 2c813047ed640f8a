import type { RegistrySettings } from '../../registry/settings.ts'
import { isWarning, type Mistake } from '../../shape/mistake.ts'
import { isObject, placeOf, type Source, valueAt } from '../../shape/place.ts'
import { formatMistake } from './mistake.ts'

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
  const { places } = source
  const { settings = [], problems } = parseRegistrySettings(given, 'registries', { folder, places })
  const place = placeOf(source, ['registries'])
  const found = problems.map(({ severity, path, line = place?.line, problem }) => {
    const keys = (path.match(/[^.[\]]+/g) ?? []).map(key => (/^\d+$/.test(key) ? Number(key) : key))
    return { severity, path: ['registries', ...keys], place: place && { ...place, line }, problem }
  })
  if (isObject(source.root)) delete source.root.registries
  return {
    registries: settings,
    mistakes: found.filter(mistake => !isWarning(mistake)),
    warnings: found.filter(isWarning).map(formatMistake),
  }
}
