import type { RegistryAnswer } from '../../registry.ts'
import type { Read } from '../../shape/shape.ts'
import { userOf } from '../credentials.ts'
import type { Asking, RegistryType } from '../registry-type.ts'
import { imageFields, registryShape, urlField, withScheme } from '../settings.ts'
import { CatalogRefused, listRepositories } from './list-repositories.ts'
import { createOciClient, type OciClient } from './oci-client.ts'
import { readImages } from './read-image.ts'

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
  list,
  pull: userOf,
} satisfies RegistryType

async function list(settings: Read<typeof shape>, asking: Asking): Promise<RegistryAnswer> {
  const { type, url, images } = settings
  const base = new URL(withScheme(url))
  const client = createOciClient(base, await asking.credentials(), asking)
  const { names, problem } = type === proxyType ? { names: [] } : await listOrNot(client, images)
  const answer = await readImages([...names, ...images], { ...settings, client, server: base.host }, asking)
  if (problem === undefined || answer.kind === 'failed') return answer
  return { kind: 'partial', found: answer.found, problems: [problem, ...answer.problems] }
}

/** Many registries list nothing to anybody: the images that are named can be read all the same. */
async function listOrNot(
  client: OciClient,
  images: readonly string[],
): Promise<{ names: readonly string[]; problem?: string }> {
  try {
    return { names: await listRepositories(client) }
  } catch (error) {
    if (!(error instanceof CatalogRefused) || images.length === 0) throw error
    return { names: [], problem: error.message }
  }
}
