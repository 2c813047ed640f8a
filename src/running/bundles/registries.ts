import type { Clock } from '../../clock.ts'
import type { RegistrySettings } from '../../registry/settings.ts'
import { createRegistry } from '../../registry/types.ts'
import type { Registry, SecretReader } from '../../registry.ts'
import { StartError } from '../start-error.ts'
import { findRepeated } from './find-repeated.ts'
import { readProxies } from './proxies.ts'

/** The registries of a configuration, in its order, and then those of others. Nothing is asked yet. */
export function createRegistries(
  { registries }: { readonly registries: readonly RegistrySettings[] },
  {
    clock,
    env,
    secrets,
    registries: given = [],
  }: {
    readonly clock: Clock
    readonly env: Readonly<Record<string, string | undefined>>
    readonly secrets: SecretReader
    readonly registries?: readonly Registry[]
  },
): readonly Registry[] {
  const proxy = readProxies(env)
  const all = [...registries.map(settings => createRegistry(settings, { clock, proxy, secrets })), ...given]
  const twice = findRepeated(all.map(({ name }) => name))
  if (twice !== undefined)
    throw new StartError(
      `There are two registries with the name "${twice}".`,
      'The name is part of the names of the services that a registry offers.',
      'Rename one of them.',
    )
  return all
}
