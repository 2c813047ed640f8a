import type { Registry } from '../registry.ts'
import { answerOrFailure } from './answer.ts'
import { readCredentials } from './credentials.ts'
import { directory } from './directory.ts'
import { dockerHub } from './dockerhub.ts'
import { helm } from './helm/helm-registry.ts'
import { http } from './http.ts'
import { oci } from './oci/oci-registry.ts'
import { quay } from './quay.ts'
import type { RegistryParts, RegistryType } from './registry-type.ts'
import type { RegistrySettings } from './settings.ts'

/** The one table of registries. The settings, the reference and every message about types go by it. */
export const registryTypes: readonly RegistryType[] = [directory, oci, dockerHub, quay, helm, http]

export function findRegistryType(name: unknown): RegistryType | undefined {
  return registryTypes.find(type => type.name === name || type.aliases?.some(alias => alias === name))
}

/** The registry that the settings describe. Nothing is asked before it is asked for its list. */
export function createRegistry(settings: RegistrySettings, parts: RegistryParts): Registry {
  const type = findRegistryType(settings.type)
  if (type === undefined) throw new TypeError(`there is no type of registries "${settings.type}"; correct it`)
  const list = type.open(settings, parts)
  return {
    name: settings.name,
    type: type.name,
    failOnError: settings.failOnError,
    list: signal => answerOrFailure(signal, () => list(signal)),
    pullCredentials: async signal => type.pull?.(await readCredentials(settings, parts.secrets, signal)),
  }
}
