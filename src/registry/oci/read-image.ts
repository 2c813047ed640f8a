import { isJsonObject, parseJson } from '../../protocol/json.ts'
import type { RegistryAnswer } from '../../registry.ts'
import { valueAt } from '../../shape/place.ts'
import type { BundleReading } from '../answer.ts'
import { readLabels } from '../labels.ts'
import { RegistryError } from '../registry-error.ts'
import type { Asking } from '../registry-type.ts'
import type { TagChoice } from '../settings.ts'
import { readTagged, type TaggedImage, withoutTag } from '../tagged-images.ts'
import { jsonOf, okReply } from '../web/web-client.ts'
import { textOf, type WebReply } from '../web/web-request.ts'
import { checkDigest, digestOf, isDigest } from './digest.ts'
import type { OciClient } from './oci-client.ts'

const imageTypes = [
  'application/vnd.oci.image.manifest.v1+json',
  'application/vnd.docker.distribution.manifest.v2+json',
]
const indexTypes = [
  'application/vnd.oci.image.index.v1+json',
  'application/vnd.docker.distribution.manifest.list.v2+json',
]

export const acceptManifest = [...indexTypes, ...imageTypes].join(', ')

const noEntrypoint = 'its image has no ENTRYPOINT; add one to its Dockerfile, or name an "entrypoint" in the spec'

export const maxManifest = 4 * 1024 * 1024
const maxConfig = 8 * 1024 * 1024

interface ImageSource {
  readonly client: OciClient
  readonly tag: TagChoice
  /** Those that an operator named. */
  readonly images: readonly string[]
  /** Where images are pulled from. */
  readonly server: string
}

/** Reads the bundles among the images of these names that pass. */
export function readImages(names: readonly string[], source: ImageSource, asking: Asking): Promise<RegistryAnswer> {
  return readTagged(names, source, image => readImage(image, source, asking), asking)
}

/** Reads the labels of one image. Everything that has a digest is checked against it. */
async function readImage(
  tagged: TaggedImage,
  { client, server }: ImageSource,
  { fetchesCredentials }: Asking,
): Promise<BundleReading> {
  const { name, image: repository, tag, variant } = tagged
  if (!isRepository(repository)) throw new RegistryError('its name is not allowed in a registry')
  const at = (path: string) => new URL(`/v2/${repository}/${path}`, client.base)

  const url = at(`manifests/${tag}`)
  const reply = await client.get(url, { repository, accept: acceptManifest, limit: maxManifest })
  if (isUnknown(reply)) return withoutTag(tagged)
  const digest = digestOfReply(okReply(reply, url))

  const first = readManifest(jsonOf(reply, url), reply.headers['content-type'])
  const config = first.kind === 'image' ? first.config : await configOf(first.manifest)
  const details = jsonOf(await fetchChecked(`blobs/${config}`, config, 'its configuration', maxConfig), url)
  const spec = readLabels(name => valueAt(details, ['config', 'Labels', name]), fetchesCredentials)
  if (spec === undefined) return undefined
  // The action is given to the entry point: where there is none, the engine would look for a program of the action's name.
  const programs = valueAt(details, ['config', 'Entrypoint'])
  const withoutProgram = Array.isArray(programs) && programs.length > 0 ? undefined : noEntrypoint
  // By its digest: what is run later is what was read here, wherever the tag has moved to since.
  const image = `${server}/${repository}@${digest}`
  return { found: { name, image, tag, variant, digest, ...spec, withoutProgram } }

  async function configOf(manifest: string): Promise<string> {
    const inner = await fetchChecked(`manifests/${manifest}`, manifest, 'a manifest of its index', maxManifest)
    const read = readManifest(jsonOf(inner, url), inner.headers['content-type'])
    if (read.kind === 'image') return read.config
    throw new RegistryError('its index leads to another index; push the image again')
  }

  async function fetchChecked(path: string, expected: string, what: string, limit: number): Promise<WebReply> {
    const accept = path.startsWith('manifests/') ? acceptManifest : undefined
    const found = okReply(await client.get(at(path), { repository, accept, limit }), at(path))
    checkDigest(found.body, expected, what)
    return found
  }
}

/** As the distribution API has it; other names would lead to other places. */
export function isRepository(name: string): boolean {
  return name.length <= 255 && name.split('/').every(part => /^[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*$/.test(part))
}

function digestOfReply({ headers, body }: WebReply): string {
  const told = headers['docker-content-digest']
  if (told === undefined) return digestOf(body)
  if (!isDigest(told)) throw new RegistryError('its digest is of a kind that cannot be checked here')
  checkDigest(body, told, 'its manifest')
  return told
}

/** The registry itself says that there is none; any other 404 may come from whatever stands before it. */
export function isUnknown(reply: WebReply): boolean {
  const errors = reply.status === 404 ? valueAt(parseJson(textOf(reply)), ['errors']) : undefined
  const codes = Array.isArray(errors) ? errors.map(error => valueAt(error, ['code'])) : []
  return codes.includes('MANIFEST_UNKNOWN') || codes.includes('NAME_UNKNOWN')
}

/** What a manifest leads to: the configuration of an image, or the manifest for one of several platforms. */
type Manifest =
  | { readonly kind: 'image'; readonly config: string }
  | { readonly kind: 'index'; readonly manifest: string }

function readManifest(content: unknown, contentType: string | undefined): Manifest {
  if (!isJsonObject(content)) throw new RegistryError('its manifest is not a JSON object; push the image again')
  const type =
    typeof content.mediaType === 'string' ? content.mediaType : (contentType ?? '').replace(/;.*/s, '').trim()
  if (indexTypes.includes(type) || (Array.isArray(content.manifests) && content.config === undefined))
    return { kind: 'index', manifest: pick(content.manifests) }
  if (content.schemaVersion === 1)
    throw new RegistryError('its manifest is of schema 1, which is not read any more; push the image again')
  const digest = valueAt(content, ['config', 'digest'])
  if (!isDigest(digest)) throw new RegistryError('its manifest names no configuration; push the image again')
  return { kind: 'image', config: digest }
}

/** For linux/amd64, or else the first one. Things that are attached to images, such as attestations, do not count. */
function pick(manifests: unknown): string {
  const list: readonly unknown[] = Array.isArray(manifests) ? manifests.filter(isJsonObject) : []
  const platformOf = (image: unknown, key: string) => valueAt(image, ['platform', key])
  const images = list.filter(image => platformOf(image, 'os') !== 'unknown')
  const usual = images.find(
    image => platformOf(image, 'os') === 'linux' && platformOf(image, 'architecture') === 'amd64',
  )
  const digest = valueAt(usual ?? images[0], ['digest'])
  if (!isDigest(digest)) throw new RegistryError('its index names no manifest; push the image again')
  return digest
}
