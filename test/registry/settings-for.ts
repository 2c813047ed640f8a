import { systemClock } from '../../src/clock.ts'
import { createRegistry } from '../../src/registry/create-registry.ts'
import { parseRegistrySettings } from '../../src/registry/parse-settings.ts'
import type { RegistryParts } from '../../src/registry/parts.ts'
import type { RegistrySettings } from '../../src/registry/settings.ts'
import type { Registry, RegistryAnswer } from '../../src/registry.ts'

/** One registry as a configuration has it; everything passes its filter unless it says otherwise. */
export function settingsFor(entry: Readonly<Record<string, unknown>>): RegistrySettings {
  const { settings, problems } = parseRegistrySettings([{ name: 'r', white_list: ['.*'], ...entry }], 'registry')
  const [first] = settings ?? []
  if (first === undefined) throw new Error(JSON.stringify(problems))
  return first
}

/** Short pauses: they are not what is tested. */
export function registryFor(entry: Readonly<Record<string, unknown>>, parts: Partial<RegistryParts> = {}): Registry {
  return createRegistry(settingsFor(entry), { clock: systemClock, limits: { retryMs: 1 }, ...parts })
}

export function ask(
  entry: Readonly<Record<string, unknown>>,
  parts: Partial<RegistryParts> = {},
): Promise<RegistryAnswer> {
  return registryFor(entry, parts).list(new AbortController().signal)
}
