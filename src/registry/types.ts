import type { Registry } from '../registry.ts'
import { answerOrFailure } from './answer.ts'
import { readCredentials } from './credentials.ts'
import { directory } from './directory.ts'
import { dockerHub } from './dockerhub.ts'
import { createFilter } from './filter.ts'
import { helm } from './helm/helm-registry.ts'
import { http } from './http.ts'
import { kubernetes } from './kubernetes/kubernetes-registry.ts'
import { findImages } from './oci/find-images.ts'
import { oci } from './oci/oci-registry.ts'
import { quay } from './quay.ts'
import type { Asking, RegistryParts, RegistryType } from './registry-type.ts'
import type { RegistrySettings } from './settings.ts'
import { withWebClient } from './web/web-client.ts'

/** The one table of registries. The settings, the reference and every message about types go by it. */
export const registryTypes: readonly RegistryType[] = [directory, oci, dockerHub, quay, helm, http, kubernetes]

export function findRegistryType(name: unknown): RegistryType | undefined {
  return registryTypes.find(type => type.name === name || type.aliases?.some(alias => alias === name))
}

/** The registry that the settings describe. Nothing is asked before it is asked for its list. */
export function createRegistry(settings: RegistrySettings, parts: RegistryParts): Registry {
  const { name, failOnError } = settings
  const type = findRegistryType(settings.type)
  if (type === undefined) throw new TypeError(`there is no type of registries "${settings.type}"; correct it`)
  const passes = createFilter(settings)
  const credentials = (signal: AbortSignal) => readCredentials(settings, parts.secrets, signal)
  const asked = <T>(signal: AbortSignal, ask: (asking: Asking) => Promise<T>) =>
    withWebClient(settings, parts, signal, web =>
      ask({ ...parts, signal, web, passes, credentials: () => credentials(signal) }),
    )
  return {
    name,
    type: type.name,
    failOnError,
    list: signal => answerOrFailure(signal, () => asked(signal, asking => type.list(settings, asking))),
    watch:
      type.watch && ((onChange, signal) => type.watch?.(settings, parts, { onChange, signal }) ?? Promise.resolve()),
    findImages: (images, signal) =>
      asked(signal, async asking => {
        const server = await type.images?.(settings, asking)
        return server === undefined ? { there: [], gone: [] } : findImages(images, server, signal)
      }).catch(() => ({ there: [], gone: [] })),
    pullCredentials: async signal => type.pull?.(await credentials(signal)),
  }
}
