import type { RegistryAnswer } from '../registry.ts'
import { valueAt } from '../shape/place.ts'
import { optional, type Read } from '../shape/shape.ts'
import { type Credentials, userOf } from './credentials.ts'
import { createOciClient } from './oci/oci-client.ts'
import { readImages } from './oci/read-image.ts'
import { RegistryError } from './registry-error.ts'
import type { Asking, ImageServer, RegistryType } from './registry-type.ts'
import { imageFields, orgField, registryShape } from './settings.ts'
import { jsonOf, namesIn, nextPage, readPages, type WebClient } from './web/web-client.ts'
import { bearer, showUrl } from './web/web-request.ts'

const usualServers = { hub: 'https://hub.docker.com', registry: 'https://registry-1.docker.io' }
const tokenHosts = ['auth.docker.io']
const maxPage = 4 * 1024 * 1024

const shape = registryShape({ org: optional(orgField), ...imageFields }, [
  ({ org, images }) => org === undefined && images?.length === 0 && { error: 'needs org or images; add one' },
])

/** The repositories of one organisation on Docker Hub, and images of others. */
export const dockerHub = {
  name: 'dockerhub',
  shape,
  offers: 'image',
  list,
  images,
  pull: userOf,
} satisfies RegistryType

async function images(_: unknown, asking: Asking): Promise<ImageServer> {
  const { registry } = asking.dockerHub ?? usualServers
  const client = createOciClient(new URL(registry), await asking.credentials(), { ...asking, tokenHosts })
  return { client, server: 'docker.io' }
}

async function list({ org, ...settings }: Read<typeof shape>, asking: Asking): Promise<RegistryAnswer> {
  const { web, dockerHub: servers = usualServers } = asking
  const credentials = await asking.credentials()
  const whole = (image: string) => (image.includes('/') ? image : `${org ?? 'library'}/${image}`)
  const named = settings.images.map(whole)
  const tags = Object.fromEntries(Object.entries(settings.tag.named).map(([image, tags]) => [whole(image), tags]))
  const tag = { ...settings.tag, named: tags }
  const listed = org === undefined ? [] : await listOrganisation(web, servers.hub, org, credentials)
  return readImages([...listed, ...named], { tag, images: named, ...(await images(settings, asking)) }, asking)
}

async function listOrganisation(web: WebClient, hub: string, org: string, credentials: Credentials) {
  const authorization = await logIn(web, hub, credentials)
  const first = new URL(`/v2/repositories/${encodeURIComponent(org)}/?page_size=100`, hub)
  return readPages(first, async url => {
    const page = jsonOf(await web.get(url, { authorization, limit: maxPage }), url)
    const items = namesIn(page, 'results', url).map(name => `${org}/${name}`)
    return { items, next: nextPage(valueAt(page, ['next']), url) }
  })
}

/** Without a user, what is public is listed. */
async function logIn(web: WebClient, hub: string, { username, password }: Credentials): Promise<string | undefined> {
  if (username === undefined) return undefined
  const url = new URL('/v2/users/login/', hub)
  const body = JSON.stringify({ username, password })
  const reply = await web.post(url, body, { limit: 256 * 1024 })
  if (reply.status === 401) throw new RegistryError(`${showUrl(url)}: Docker Hub refuses the credentials; correct them`)
  const token = valueAt(jsonOf(reply, url), ['token'])
  if (typeof token !== 'string' || !/^[\x21-\x7e]+$/.test(token))
    throw new RegistryError(`${showUrl(url)}: Docker Hub did not give a token`)
  return bearer(token)
}
