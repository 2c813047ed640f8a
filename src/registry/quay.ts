import { isJsonObject } from '../protocol/json.ts'
import type { PullCredentials, RegistryAnswer } from '../registry.ts'
import { valueAt } from '../shape/place.ts'
import { fallback, type Read } from '../shape/shape.ts'
import type { BundleReading } from './answer.ts'
import { type Credentials, userOf } from './credentials.ts'
import { readLabels } from './labels.ts'
import { isDigest } from './oci/digest.ts'
import { createOciClient } from './oci/oci-client.ts'
import { isRepository } from './oci/read-image.ts'
import { RegistryError } from './registry-error.ts'
import type { Asking, ImageServer, RegistryType } from './registry-type.ts'
import { imageFields, orgField, registryShape, urlField, withScheme } from './settings.ts'
import { readTagged, type TaggedImage, withoutTag } from './tagged-images.ts'
import { jsonOf, listIn, namesIn, readPages } from './web/web-client.ts'
import { bearer, showUrl } from './web/web-request.ts'

const maxReply = 8 * 1024 * 1024

const shape = registryShape({ url: fallback(urlField, 'https://quay.io'), org: orgField, ...imageFields })

/** The repositories of one organisation on Quay, by its own API: it knows labels without their images. */
export const quay = { name: 'quay', shape, offers: 'image', list, images, pull } satisfies RegistryType

/** Quay takes a token under this name. */
function pull(credentials: Credentials): PullCredentials | undefined {
  const { token } = credentials
  return userOf(credentials) ?? (token === undefined ? undefined : { username: '$oauthtoken', password: token })
}

/** By the distribution API, which it has too. */
async function images({ url }: Read<typeof shape>, asking: Asking): Promise<ImageServer> {
  const base = new URL(withScheme(url))
  const client = createOciClient(base, pull(await asking.credentials()) ?? {}, { ...asking, tokenHosts: [] })
  return { client, server: base.host }
}

async function list(settings: Read<typeof shape>, asking: Asking): Promise<RegistryAnswer> {
  const { org, images: named } = settings
  const base = new URL(withScheme(settings.url))
  const { token } = await asking.credentials()
  const options = { authorization: bearer(token), limit: maxReply }
  const get = async (url: URL) => jsonOf(await asking.web.get(url, options), url)

  const read = async (tagged: TaggedImage): Promise<BundleReading> => {
    const { name, image, tag, variant } = tagged
    if (!isRepository(`${org}/${image}`)) throw new RegistryError('its name is not allowed in a registry')
    const root = new URL(`/api/v1/repository/${org}/${image}/`, base)
    const tagUrl = new URL(`tag/?onlyActiveTags=true&specificTag=${encodeURIComponent(tag)}`, root)
    const found = listIn(await get(tagUrl), 'tags', tagUrl).find(one => valueAt(one, ['name']) === tag)
    if (found === undefined) return withoutTag(tagged)
    const digest = valueAt(found, ['manifest_digest'])
    if (!isDigest(digest)) throw new RegistryError(`${showUrl(tagUrl)}: the tag ${tag} has no digest`)
    const labelsUrl = new URL(`manifest/${digest}/labels`, root)
    const labels = listIn(await get(labelsUrl), 'labels', labelsUrl)
    const values = new Map(labels.filter(isJsonObject).map(({ key, value }) => [key, value]))
    const spec = readLabels(label => values.get(label), asking.fetchesCredentials)
    if (spec === undefined) return undefined
    return { found: { name, image: `${base.host}/${org}/${image}@${digest}`, tag, variant, digest, ...spec } }
  }

  const listed = await readPages(repositoriesOf(base, org), async url => {
    const page = await get(url)
    const next = valueAt(page, ['next_page'])
    const items = namesIn(page, 'repositories', url)
    return { items, next: typeof next === 'string' ? repositoriesOf(base, org, next) : undefined }
  })
  return readTagged([...listed, ...named], settings, read, asking)
}

function repositoriesOf(base: URL, org: string, page?: string): URL {
  const url = new URL('/api/v1/repository', base)
  const next = page === undefined ? undefined : { next_page: page }
  url.search = String(new URLSearchParams({ public: 'true', private: 'true', namespace: org, ...next }))
  return url
}
