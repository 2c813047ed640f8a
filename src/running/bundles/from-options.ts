import { resolve } from 'node:path'
import { readRegistrySettings } from '../../registry/read-settings.ts'
import type { Registry } from '../../registry.ts'
import type { Runtime } from '../../sandbox.ts'
import { bundlesShape } from '../../settings/config.ts'
import { SettingsError } from '../../settings/settings.ts'
import { anything, hasMethods, judged } from '../../shape/fields.ts'
import { explain, isError } from '../../shape/mistake.ts'
import { fromCode, showPath } from '../../shape/place.ts'
import { read } from '../../shape/read.ts'
import { list, object, optional, type Written } from '../../shape/shape.ts'
import type { RegistryOptions } from '../start-broker.ts'
import { type OpenedParts, openBundles } from './open.ts'

/** Services that come from registries: the section `bundles` of the configuration, in code. */
export type BundleOptions = Written<typeof bundlesShape> & {
  /** Entries as the section `registries` has them, and registries of your own. */
  readonly registries: readonly (Registry | RegistryEntry)[]
  /** Of your own: what they run, they run in the place of ours. */
  readonly runtimes?: readonly Runtime[]
}

/** A registry as a configuration has it; the keys stand in docs/reference/registries.md. */
export interface RegistryEntry {
  readonly name: string
  readonly type?: string
  readonly [key: string]: unknown
}

const runtime = judged('a Runtime', value =>
  hasMethods(value, 'prepare', 'start', 'status', 'collect', 'remove', 'list'),
)

const optionsShape = object({
  ...bundlesShape.wrapped.entries,
  registries: list(anything<Registry | RegistryEntry>('a registry', { secret: true })),
  runtimes: optional(list(runtime)),
})

/** Throws a SettingsError that lists every mistake. */
export async function openBundlesFromOptions(options: BundleOptions, parts: OpenedParts): Promise<RegistryOptions> {
  const reading = read(optionsShape, fromCode(options))
  const registries = Array.isArray(options.registries) ? options.registries : []
  const own = registries.filter(isRegistry)
  const entries = registries.filter(registry => !isRegistry(registry))
  const ofRegistries = readRegistrySettings(fromCode(entries), process.cwd(), ['registries'])
  if (!reading.ok || ofRegistries.settings === undefined) {
    const lines = [...reading.mistakes, ...ofRegistries.mistakes]
      .filter(isError)
      .map(mistake => `  ${showPath(['bundles', ...mistake.path])}: ${explain(mistake)}`)
    throw new SettingsError(`The bundles cannot be opened:\n${lines.join('\n')}`)
  }
  const bundles = { ...reading.value, folder: resolve(reading.value.folder) }
  const { runtimes } = options
  return openBundles(
    { bundles, registries: ofRegistries.settings },
    { ...parts, runtimes, registries: own, env: process.env },
  )
}

function isRegistry(registry: Registry | RegistryEntry): registry is Registry {
  return hasMethods(registry, 'list')
}
