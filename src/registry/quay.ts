import { isJsonObject } from '../protocol/json.ts'
import type { PullCredentials, RegistryAnswer } from '../registry.ts'
import { fallback, type Read } from '../shape/shape.ts'
import { type BundleReading, readEach } from './answer.ts'
import { type Credentials, readCredentials, userOf } from './credentials.ts'
import { createFilter } from './filter.ts'
import { readLabels } from './labels.ts'
import { isDigest } from './oci/digest.ts'
import { isRepository } from './oci/read-image.ts'
import { RegistryError } from './registry-error.ts'
import type { RegistryParts, RegistryType } from './registry-type.ts'
import { imageFields, orgField, registryShape, tagOf, urlField, withScheme } from './settings.ts'
import { readPages } from './web/next-page.ts'
import { showUrl } from './web/send.ts'
import { jsonOf, withWebClient } from './web/web-client.ts'

const maxReply = 8 * 1024 * 1024

const shape = registryShape({ url: fallback(urlField, 'https://quay.io'), org: orgField, ...imageFields })

/** The repositories of one organisation on Quay, by its own API: it knows labels without their images. */
export const quay = { name: 'quay', shape, offers: 'image', open, pull } satisfies RegistryType

/** Quay takes a token under this name. */
function pull(credentials: Credentials): PullCredentials | undefined {
  const { token } = credentials
  return userOf(credentials) ?? (token === undefined ? undefined : { username: '$oauthtoken', password: token })
}

function open(settings: Read<typeof shape>, parts: RegistryParts) {
  const { org, images, tag } = settings
  const passes = createFilter(settings)
  const base = new URL(withScheme(settings.url))

  const list = async (signal: AbortSignal): Promise<RegistryAnswer> => {
    const { token } = await readCredentials(settings, parts.secrets, signal)
    const headers: Readonly<Record<string, string>> = token === undefined ? {} : { authorization: `Bearer ${token}` }
    return withWebClient(settings, parts, signal, async web => {
      const get = async (url: URL) => {
        const content = jsonOf(await web.get(url, { headers, limit: maxReply }), url)
        if (!isJsonObject(content)) throw new RegistryError(`${showUrl(url)}: the reply is not a JSON object`)
        return content
      }

      const listAll = () =>
        readPages(repositoriesOf(base, org), async url => {
          const { repositories, next_page: next } = await get(url)
          if (!Array.isArray(repositories))
            throw new RegistryError(`${showUrl(url)}: the reply is not a list of repositories`)
          const items = repositories.flatMap(one => (isJsonObject(one) && typeof one.name === 'string' ? one.name : []))
          return { items, next: typeof next === 'string' ? repositoriesOf(base, org, next) : undefined }
        })

      const read = async (image: string): Promise<BundleReading> => {
        if (!isRepository(`${org}/${image}`)) throw new RegistryError('its name is not allowed in a registry')
        const wanted = tagOf(tag, image)
        const root = new URL(`/api/v1/repository/${org}/${image}/`, base)
        const tagUrl = new URL(`tag/?onlyActiveTags=true&specificTag=${encodeURIComponent(wanted)}`, root)
        const { tags } = await get(tagUrl)
        if (!Array.isArray(tags)) throw new RegistryError(`${showUrl(tagUrl)}: the reply is not a list of tags`)
        const found = tags.find(one => isJsonObject(one) && one.name === wanted)
        if (!isJsonObject(found))
          return images.includes(image)
            ? { note: `${image}: it has no tag ${wanted}; push it, or take it out of images` }
            : undefined
        const digest = found.manifest_digest
        if (!isDigest(digest)) throw new RegistryError(`${showUrl(tagUrl)}: the tag ${wanted} has no digest`)
        const labelsUrl = new URL(`manifest/${digest}/labels`, root)
        const { labels } = await get(labelsUrl)
        if (!Array.isArray(labels)) throw new RegistryError(`${showUrl(labelsUrl)}: the reply is not a list of labels`)
        const values = new Map(labels.filter(isJsonObject).map(({ key, value }) => [key, value]))
        const spec = readLabels(label => values.get(label))
        if (spec === undefined) return undefined
        return { found: { name: image, image: `${base.host}/${org}/${image}@${digest}`, tag: wanted, digest, ...spec } }
      }

      return readEach([...(await listAll()), ...images].filter(passes), read, signal)
    })
  }

  return list
}

function repositoriesOf(base: URL, org: string, page?: string): URL {
  const url = new URL('/api/v1/repository', base)
  for (const [key, value] of [
    ['public', 'true'],
    ['private', 'true'],
    ['namespace', org],
  ] as const)
    url.searchParams.set(key, value)
  if (page !== undefined) url.searchParams.set('next_page', page)
  return url
}
