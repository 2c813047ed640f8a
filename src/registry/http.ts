import type { RegistryAnswer } from '../registry.ts'
import type { Read } from '../shape/shape.ts'
import { type BundleReading, toAnswer } from './answer.ts'
import { type Credentials, readCredentials } from './credentials.ts'
import { createFilter } from './filter.ts'
import { imageTag } from './image-tag.ts'
import { digestOf } from './oci/digest.ts'
import { messageOf, RegistryError } from './registry-error.ts'
import type { RegistryParts, RegistryType } from './registry-type.ts'
import { registryShape, urlField, withScheme } from './settings.ts'
import { type ListedSpec, readSpecList } from './spec-list.ts'
import { basic } from './web/basic.ts'
import { showUrl } from './web/send.ts'
import { withWebClient } from './web/web-client.ts'

const maxList = 64 * 1024 * 1024

const shape = registryShape({ url: urlField })

/** A list of specs. Each says with `image`, and with `runtime` where it is not 2, what runs it. */
export const http = { name: 'http', shape, offers: 'image', open } satisfies RegistryType

function open(settings: Read<typeof shape>, parts: RegistryParts) {
  const passes = createFilter(settings)
  const url = new URL(withScheme(settings.url))

  const list = async (signal: AbortSignal): Promise<RegistryAnswer> => {
    const headers = authorization(await readCredentials(settings, parts.secrets, signal))
    const reply = await withWebClient(settings, parts, signal, web => web.get(url, { headers, limit: maxList }))
    if (reply.status !== 200) throw new RegistryError(`${showUrl(url)}: it answered ${reply.status}, not 200`)
    const names = new Set<string>()
    return toAnswer(read(reply.body).map((entry, index) => readEntry(entry, index, names)))
  }

  const read = (body: Buffer): readonly ListedSpec[] => {
    try {
      return readSpecList(new TextDecoder().decode(body))
    } catch (error) {
      throw new RegistryError(`${showUrl(url)}: ${messageOf(error)}`)
    }
  }

  const readEntry = (
    entry: ListedSpec,
    index: number,
    names: Set<string>,
  ): BundleReading | { readonly problem: string } => {
    const { name: spec, image, runtime = '2' } = entry
    if (spec === undefined || spec === '') return { problem: `entry ${index + 1} has no name; give it one` }
    if (!passes(spec)) return undefined
    if (names.has(spec)) return { problem: `${spec}: it is in the list twice; remove one of them` }
    names.add(spec)
    if (image === undefined || image === '')
      return { problem: `${spec}: it has no image; say with "image" what runs it` }
    if (runtime !== '1' && runtime !== '2') return { problem: `${spec}: its runtime is neither 1 nor 2; correct it` }
    const source = entry.source()
    const digest = digestOf(Buffer.from(source))
    return { found: { name: spec, image, tag: imageTag(image), digest, source, runtime: runtime === '1' ? 1 : 2 } }
  }

  return list
}

function authorization({ username, password, token }: Credentials): Readonly<Record<string, string>> {
  if (token !== undefined) return { authorization: `Bearer ${token}` }
  return username === undefined ? {} : { authorization: basic(username, password) }
}
