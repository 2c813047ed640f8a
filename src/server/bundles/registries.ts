import type { ConfiguredRegistry } from '../../broker/registries/sync.ts'
import type { Clock } from '../../clock.ts'
import { createRegistry } from '../../registry/create-registry.ts'
import type { SecretReader } from '../../registry.ts'
import type { Config } from '../config.ts'
import { readProxies } from './proxies.ts'

/** The registries of a configuration, in its order. Nothing is asked yet. */
export function createRegistries(
  { registries }: Pick<Config, 'registries'>,
  {
    clock,
    env,
    secrets,
  }: {
    readonly clock: Clock
    readonly env: Readonly<Record<string, string | undefined>>
    readonly secrets: SecretReader
  },
): readonly ConfiguredRegistry[] {
  const proxy = readProxies(env)
  return registries.map(settings => ({
    ...createRegistry(settings, { clock, proxy, secrets }),
    failOnError: settings.failOnError,
  }))
}
