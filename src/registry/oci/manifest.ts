import { isJsonObject } from '../../protocol/json.ts'
import { valueAt } from '../../shape/place.ts'
import { RegistryError } from '../registry-error.ts'
import { isDigest } from './digest.ts'

const imageTypes = [
  'application/vnd.oci.image.manifest.v1+json',
  'application/vnd.docker.distribution.manifest.v2+json',
] as const
const indexTypes = [
  'application/vnd.oci.image.index.v1+json',
  'application/vnd.docker.distribution.manifest.list.v2+json',
] as const

export const acceptManifest = [...indexTypes, ...imageTypes].join(', ')

/** What a manifest leads to: the configuration of an image, or the manifest for one of several platforms. */
export type Manifest =
  | { readonly kind: 'image'; readonly config: string }
  | { readonly kind: 'index'; readonly manifest: string }

export function readManifest(content: unknown, contentType: string | undefined): Manifest {
  if (!isJsonObject(content)) throw new RegistryError('its manifest is not a JSON object; push the image again')
  const type = typeof content.mediaType === 'string' ? content.mediaType : (contentType ?? '').split(';')[0]?.trim()
  if (indexTypes.some(one => one === type) || (Array.isArray(content.manifests) && content.config === undefined))
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
