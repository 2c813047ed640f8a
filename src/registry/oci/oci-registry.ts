import type { Registry, RegistryAnswer } from '../../registry.ts'
import { answerOrFailure, readEach } from '../answer.ts'
import { readCredentials } from '../credentials.ts'
import { createFilter } from '../filter.ts'
import type { RegistryParts } from '../parts.ts'
import { type RegistrySettings, tagOf } from '../settings.ts'
import { withWebClient } from '../web/web-client.ts'
import { CatalogRefused, listRepositories } from './list-repositories.ts'
import { createOciClient, type OciClient } from './oci-client.ts'
import { readImage } from './read-image.ts'

/** Any registry of the distribution API, version 2. */
export function createOciRegistry(
  settings: RegistrySettings & { readonly url: string },
  parts: RegistryParts,
): Registry {
  const { name, type, images, imagesOnly, tag, auth } = settings
  const passes = createFilter(settings)
  const base = new URL(settings.url)

  const list = async (signal: AbortSignal): Promise<RegistryAnswer> => {
    const credentials = await readCredentials(auth, parts.secrets, signal)
    return withWebClient(settings, parts, signal, async web => {
      const client = createOciClient(base, credentials, { web, clock: parts.clock })
      const { names, problem } = imagesOnly ? { names: [] } : await listOrNot(client)
      const answer = await readEach(
        [...names, ...images].filter(passes),
        repository =>
          readImage(client, {
            repository,
            tag: tagOf(tag, repository),
            image: `${base.host}/${repository}`,
            named: images.includes(repository),
          }),
        signal,
      )
      if (problem === undefined || answer.kind === 'failed') return answer
      return { kind: 'partial', found: answer.found, problems: [problem, ...answer.problems] }
    })
  }

  /** Many registries list nothing to anybody: the images that are named can be read all the same. */
  const listOrNot = async (client: OciClient): Promise<{ names: readonly string[]; problem?: string }> => {
    try {
      return { names: await listRepositories(client) }
    } catch (error) {
      if (!(error instanceof CatalogRefused) || images.length === 0) throw error
      return { names: [], problem: error.message }
    }
  }

  return { name, type, list: signal => answerOrFailure(signal, () => list(signal)) }
}
