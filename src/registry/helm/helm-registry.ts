import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import type { RegistryAnswer } from '../../registry.ts'
import { text } from '../../shape/fields.ts'
import type { Read } from '../../shape/shape.ts'
import { type BundleReading, readEach } from '../answer.ts'
import { checkDigest, digestOf } from '../oci/digest.ts'
import { RegistryError } from '../registry-error.ts'
import type { Asking, RegistryType } from '../registry-type.ts'
import { imageTag, needsNoCredentials, registryShape, urlField, withScheme } from '../settings.ts'
import { okReply, type WebClient } from '../web/web-client.ts'
import { textOf, type WebReply } from '../web/web-request.ts'
import { readIndex } from './index-file.ts'
import { findInTar } from './tar.ts'
import { toSpec } from './to-spec.ts'

const unzip = promisify(gunzip)
const maxIndex = 16 * 1024 * 1024
const maxArchive = 16 * 1024 * 1024
const maxUnpacked = 64 * 1024 * 1024
const maxValues = 512 * 1024

const shape = registryShape(
  {
    url: urlField,
    runner: text({ rule: 'the name of an image', doc: 'what deploys the charts of a `helm` registry' }),
  },
  [needsNoCredentials],
)

/** A repository of Helm charts: each becomes a service that the runner deploys. */
export const helm = { name: 'helm', shape, offers: 'image', list } satisfies RegistryType

async function list({ url, runner }: Read<typeof shape>, { web, passes, signal }: Asking): Promise<RegistryAnswer> {
  const repository = withScheme(url).replace(/\/+$/, '')
  const index = new URL(`${repository}/index.yaml`)
  const charts = readIndex(textOf(await download(web, index, { limit: maxIndex })))
  const byName = new Map(charts.map(chart => [chart.name, chart]))

  const read = async (name: string): Promise<BundleReading> => {
    const chart = byName.get(name)
    if (chart === undefined) return undefined
    const release = chart.describe()
    if (release.archive === undefined || release.archive === '' || !URL.canParse(release.archive, index.href))
      throw new RegistryError(`the index does not say where version ${chart.newest} is`)
    const place = new URL(release.archive, index)
    const { body: archive } = await download(web, place, { limit: maxArchive, mustBePublic: place.host !== index.host })
    if (release.sha256 !== undefined) checkDigest(archive, `sha256:${release.sha256}`, 'its archive')
    const source = toSpec(chart, release, repository, await valuesOf(archive))
    return { found: { name, image: runner, tag: imageTag(runner), digest: digestOf(archive), source, runtime: 2 } }
  }

  return readEach([...byName.keys()].filter(passes), read, signal)
}

async function download(web: WebClient, url: URL, options: Parameters<WebClient['get']>[1]): Promise<WebReply> {
  if (!['http:', 'https:'].includes(url.protocol)) throw new RegistryError(`${url.protocol} is not read; use https`)
  return okReply(await web.get(url, options), url)
}

/** A chart without values has none to show. */
async function valuesOf(archive: Uint8Array): Promise<string> {
  const unpacked = await unzip(archive, { maxOutputLength: maxUnpacked }).catch(() => {
    throw new RegistryError(`its archive is not gzip, or has more than ${maxUnpacked} bytes`)
  })
  const values = findInTar(unpacked, name => /^(\.\/)?[^/]+\/values\.yaml$/.test(name))
  if (values !== undefined && values.length > maxValues)
    throw new RegistryError(`its values.yaml has more than ${maxValues} bytes`)
  return values?.toString('utf8') ?? ''
}
