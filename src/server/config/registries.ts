import type { RegistrySettings } from '../../registry/settings.ts'
import { isError, isWarning, type Mistake } from '../../shape/mistake.ts'
import { isObject, placeOf, type Source, valueAt } from '../../shape/place.ts'
import { formatMistake } from './mistake.ts'

export interface TakenRegistries {
  readonly registries: readonly RegistrySettings[]
  readonly mistakes: readonly Mistake[]
  /** What is allowed and hardly meant, a line each. */
  readonly warnings: readonly string[]
}

/** Takes the registries out of the tree. The code that reads them is loaded only where there are some. */
export async function takeRegistries(source: Source, folder: string): Promise<TakenRegistries> {
  const root = valueAt(source.root, ['registries'])
  if (root === undefined) return { registries: [], mistakes: [], warnings: [] }
  const { readRegistrySettings } = await import('../../registry/read-settings.ts')
  const place = placeOf(source, ['registries'])
  const { settings = [], mistakes } = readRegistrySettings({ ...source, root, place }, folder, ['registries'])
  if (isObject(source.root)) delete source.root.registries
  return {
    registries: settings,
    mistakes: mistakes.filter(isError),
    warnings: mistakes.filter(isWarning).map(formatMistake),
  }
}
