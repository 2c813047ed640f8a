import type { Registry } from '../registry.ts'
import { createDirectoryRegistry } from './directory.ts'
import { createDockerHubRegistry } from './dockerhub.ts'
import { createHelmRegistry } from './helm/helm-registry.ts'
import { createHttpRegistry } from './http.ts'
import { createOciRegistry } from './oci/oci-registry.ts'
import type { RegistryParts } from './parts.ts'
import { pullCredentials } from './pull-credentials.ts'
import { createQuayRegistry } from './quay.ts'
import type { RegistrySettings } from './settings.ts'

/** The registry that the settings describe. Nothing is asked before it is asked for its list. */
export function createRegistry(settings: RegistrySettings, parts: RegistryParts): Registry {
  return {
    ...create(settings, parts),
    failOnError: settings.failOnError,
    pullCredentials: signal => pullCredentials(settings, parts.secrets, signal),
  }
}

function create(settings: RegistrySettings, parts: RegistryParts): Registry {
  const { path, url, runner } = settings
  switch (settings.type) {
    case 'directory':
      return createDirectoryRegistry({ ...settings, path: demand(path, 'path', settings) })
    case 'oci':
      return createOciRegistry({ ...settings, url: demand(url, 'url', settings) }, parts)
    case 'dockerhub':
      return createDockerHubRegistry(settings, parts)
    case 'quay':
      return createQuayRegistry({ ...settings, url: demand(url, 'url', settings) }, parts)
    case 'helm':
      return createHelmRegistry(
        { ...settings, url: demand(url, 'url', settings), runner: demand(runner, 'runner', settings) },
        parts,
      )
    case 'http':
      return createHttpRegistry({ ...settings, url: demand(url, 'url', settings) }, parts)
  }
}

function demand(value: string | undefined, key: string, { name, type }: RegistrySettings): string {
  if (value === undefined) throw new TypeError(`the registry "${name}" of type ${type} has no ${key}; add it`)
  return value
}
