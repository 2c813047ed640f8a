import type { RegistryAnswer } from '../../registry.ts'
import type { Read } from '../../shape/shape.ts'
import { readEach } from '../answer.ts'
import { readCredentials, userOf } from '../credentials.ts'
import { createFilter } from '../filter.ts'
import type { RegistryParts, RegistryType } from '../registry-type.ts'
import { imageFields, registryShape, tagOf, urlField, withScheme } from '../settings.ts'
import { withWebClient } from '../web/web-client.ts'
import { CatalogRefused, listRepositories } from './list-repositories.ts'
import { createOciClient, type OciClient } from './oci-client.ts'
import { readImage } from './read-image.ts'

/** Only its `images` are read: it is not asked what else it has. */
const proxyType = 'registry_proxy'

const shape = registryShape({ url: urlField, ...imageFields }, [
  ({ type, images }) =>
    type === proxyType &&
    images?.length === 0 && { path: ['images'], error: `needs a name, since its type is ${type}` },
])

/** Any registry of the distribution API, version 2. */
export const oci = {
  name: 'oci',
  aliases: ['apiv2', 'openshift', 'partner_rhcc', 'rhcc', proxyType],
  shape,
  offers: 'image',
  open,
  pull: userOf,
} satisfies RegistryType

function open(settings: Read<typeof shape>, parts: RegistryParts) {
  const { type, images, tag } = settings
  const passes = createFilter(settings)
  const base = new URL(withScheme(settings.url))

  const list = async (signal: AbortSignal): Promise<RegistryAnswer> => {
    const credentials = await readCredentials(settings, parts.secrets, signal)
    return withWebClient(settings, parts, signal, async web => {
      const client = createOciClient(base, credentials, { web, clock: parts.clock })
      const { names, problem } = type === proxyType ? { names: [] } : await listOrNot(client)
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

  return list
}
