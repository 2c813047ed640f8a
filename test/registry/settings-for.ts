import { systemClock } from '../../src/clock.ts'
import { readRegistrySettings } from '../../src/registry/read-settings.ts'
import type { RegistryParts } from '../../src/registry/registry-type.ts'
import type { RegistrySettings } from '../../src/registry/settings.ts'
import { createRegistry } from '../../src/registry/types.ts'
import type { Registry, RegistryAnswer } from '../../src/registry.ts'
import { explain } from '../../src/shape/mistake.ts'
import { fromCode, showPath } from '../../src/shape/place.ts'
import { readYaml } from '../../src/shape/yaml.ts'

/** The registry section, as text or as a value, and what is said of it. */
export function readSection(raw: unknown, folder = '.') {
  const [source = fromCode(raw)] = typeof raw === 'string' ? readYaml(raw, { name: 'purser.yaml' }).documents : []
  const { settings, mistakes } = readRegistrySettings(source, folder)
  const problems = mistakes.map(mistake => ({
    severity: mistake.severity ?? 'error',
    path: showPath(mistake.path),
    line: mistake.place?.line,
    problem: explain(mistake),
  }))
  return { settings, problems }
}

/** One registry as a configuration has it; everything passes its filter unless it says otherwise. */
export function settingsFor<Own = object>(entry: Readonly<Record<string, unknown>>): RegistrySettings & Own {
  const { settings, problems } = readSection([{ name: 'r', white_list: ['.*'], ...entry }])
  const [first] = settings ?? []
  if (first === undefined) throw new Error(JSON.stringify(problems))
  return first as RegistrySettings & Own
}

/** Short pauses: they are not what is tested. */
export function registryFor(entry: Readonly<Record<string, unknown>>, parts: Partial<RegistryParts> = {}): Registry {
  return createRegistry(settingsFor(entry), { clock: systemClock, limits: { firstPause: 1 }, ...parts })
}

export function ask(
  entry: Readonly<Record<string, unknown>>,
  parts: Partial<RegistryParts> = {},
): Promise<RegistryAnswer> {
  return registryFor(entry, parts).list(new AbortController().signal)
}
