import type { RegistryAnswer } from '../registry.ts'
import type { Read } from '../shape/shape.ts'
import { type BundleReading, toAnswer } from './answer.ts'
import { imageTag } from './image-tag.ts'
import { digestOf } from './oci/digest.ts'
import { messageOf, RegistryError } from './registry-error.ts'
import type { Asking, RegistryType } from './registry-type.ts'
import { registryShape, urlField, withScheme } from './settings.ts'
import { type ListedSpec, readSpecList } from './spec-list.ts'
import { basic, bearer } from './web/authorization.ts'
import { showUrl } from './web/send.ts'
import { okReply } from './web/web-client.ts'

const maxList = 64 * 1024 * 1024

const shape = registryShape({ url: urlField })

/** A list of specs. Each says with `image`, and with `runtime` where it is not 2, what runs it. */
export const http = { name: 'http', shape, offers: 'image', list } satisfies RegistryType

async function list(settings: Read<typeof shape>, { web, passes, credentials }: Asking): Promise<RegistryAnswer> {
  const url = new URL(withScheme(settings.url))
  const { username, password, token } = await credentials()
  const { body } = okReply(
    await web.get(url, { authorization: bearer(token) ?? basic(username, password), limit: maxList }),
    url,
  )
  const names = new Set<string>()
  return toAnswer(
    read(body, url).map((entry, index): BundleReading | { readonly problem: string } => {
      const { name, image, runtime = '2' } = entry
      if (name === undefined || name === '') return { problem: `entry ${index + 1} has no name; give it one` }
      if (!passes(name)) return undefined
      if (names.has(name)) return { problem: `${name}: it is in the list twice; remove one of them` }
      names.add(name)
      if (image === undefined || image === '')
        return { problem: `${name}: it has no image; say with "image" what runs it` }
      if (runtime !== '1' && runtime !== '2') return { problem: `${name}: its runtime is neither 1 nor 2; correct it` }
      const source = entry.source()
      const digest = digestOf(Buffer.from(source))
      return { found: { name, image, tag: imageTag(image), digest, source, runtime: runtime === '1' ? 1 : 2 } }
    }),
  )
}

function read(body: Buffer, url: URL): readonly ListedSpec[] {
  try {
    return readSpecList(new TextDecoder().decode(body))
  } catch (error) {
    throw new RegistryError(`${showUrl(url)}: ${messageOf(error)}`)
  }
}
