import type { RegistryAnswer } from '../../registry.ts'
import { valueAt } from '../../shape/place.ts'
import type { Read } from '../../shape/shape.ts'
import { userOf } from '../credentials.ts'
import { RegistryError } from '../registry-error.ts'
import type { Asking, ImageServer, RegistryType } from '../registry-type.ts'
import { imageFields, registryShape, tokenHostsField, urlField, withScheme } from '../settings.ts'
import { jsonOf, listIn, nextPage, okReply, readPages, refusalOf } from '../web/web-client.ts'
import { showUrl } from '../web/web-request.ts'
import { createOciClient, type OciClient } from './oci-client.ts'
import { readImages } from './read-image.ts'

/** Only its `images` are read: it is not asked what else it has. */
const proxyType = 'registry_proxy'

const shape = registryShape({ url: urlField, tokenHosts: tokenHostsField, ...imageFields }, [
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
  images,
  pull: userOf,
} satisfies RegistryType

async function images({ url, tokenHosts }: Read<typeof shape>, asking: Asking): Promise<ImageServer> {
  const base = new URL(withScheme(url))
  return { client: createOciClient(base, await asking.credentials(), { ...asking, tokenHosts }), server: base.host }
}

async function list(settings: Read<typeof shape>, asking: Asking): Promise<RegistryAnswer> {
  const { type, images: named } = settings
  const { client, server } = await images(settings, asking)
  const problems: string[] = []
  /** Many registries list nothing to anybody: the images that are named can be read all the same. */
  const withoutList = (error: unknown) => {
    if (!(error instanceof CatalogRefused) || named.length === 0) throw error
    problems.push(error.message)
    return []
  }
  const names = type === proxyType ? [] : await listRepositories(client).catch(withoutList)
  const answer = await readImages([...names, ...named], { ...settings, client, server }, asking)
  if (problems.length === 0 || answer.kind === 'failed') return answer
  return { kind: 'partial', found: answer.found, problems: [...problems, ...answer.problems] }
}

/** The registry is there, and does not tell what it has. */
class CatalogRefused extends RegistryError {}

async function listRepositories(client: OciClient): Promise<readonly string[]> {
  // Whether it is a registry at all: a page that any web server might answer with is not an empty list.
  const root = new URL('/v2/', client.base)
  const probe = await client.get(root, { limit: 1024 * 1024 })
  if (probe.status === 404)
    throw new RegistryError(
      `${showUrl(root)}: no registry of the distribution API, version 2, is there; correct the url`,
    )
  okReply(probe, root)
  return readPages(new URL('/v2/_catalog?n=100', client.base), async url => {
    const reply = await client.get(url, { limit: 4 * 1024 * 1024 })
    if ([401, 403, 404, 405].includes(reply.status)) throw new CatalogRefused(refusalOf(reply, url))
    const page = jsonOf(reply, url)
    const isEmpty = valueAt(page, ['repositories']) === null
    const items = isEmpty ? [] : listIn(page, 'repositories', url).map(String)
    return { items, next: nextPage(linkToNext(reply.headers.link), url) }
  })
}

function linkToNext(header: string | undefined): string | undefined {
  const links = (header ?? '').split(/,(?=\s*<)/)
  return links.flatMap(link => /^\s*<([^>]*)>[^<]*;\s*rel="?next"?/i.exec(link)?.[1] ?? [])[0]
}
