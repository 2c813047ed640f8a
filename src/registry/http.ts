import { maxBytes, readSource } from '../bundle/source.ts'
import { isJsonObject, type Json, type JsonObject, parseJson } from '../protocol/json.ts'
import type { RegistryAnswer } from '../registry.ts'
import { asText, textAt, type WrittenValue } from '../shape/fields.ts'
import { explain } from '../shape/mistake.ts'
import { isObject, type Places, valueAt } from '../shape/place.ts'
import type { Read } from '../shape/shape.ts'
import { type BundleReading, toAnswer } from './answer.ts'
import { digestOf } from './oci/digest.ts'
import { messageOf, RegistryError } from './registry-error.ts'
import type { Asking, RegistryType } from './registry-type.ts'
import { imageTag, registryShape, urlField, withScheme } from './settings.ts'
import { okReply } from './web/web-client.ts'
import { basic, bearer, showUrl } from './web/web-request.ts'

const maxList = 64 * 1024 * 1024
/** More than tens of thousands of specs have; few enough for memory. */
const maxValues = 4_000_000

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
      if ((image === undefined || image === '') && !entry.hasManifests)
        return { problem: `${name}: it has no image; say with "image" what runs it` }
      if (runtime !== '1' && runtime !== '2') return { problem: `${name}: its runtime is neither 1 nor 2; correct it` }
      const source = entry.source()
      const digest = digestOf(Buffer.from(source))
      const [run = '', tag] = image ? [image, imageTag(image)] : ['', '']
      return { found: { name, image: run, tag, digest, source, runtime: runtime === '1' ? 1 : 2 } }
    }),
  )
}

function read(body: Uint8Array, url: URL): readonly ListedSpec[] {
  try {
    return readSpecList(new TextDecoder().decode(body))
  } catch (error) {
    throw new RegistryError(`${showUrl(url)}: ${messageOf(error)}`)
  }
}

/** One entry of a list of specs. What it says is not judged here. */
interface ListedSpec {
  readonly name?: string
  readonly image?: string
  readonly runtime?: string
  /** It consists of objects of a cluster, and nothing of it is run. */
  readonly hasManifests: boolean
  /** The text of the spec without what only says how it is run. */
  source(): string
}

/**
 * A list of specs, or an object whose `apps` is one. Long ones must be JSON, which is read at once; YAML takes a hundred
 * times as long, and may only be as long as one spec.
 */
export function readSpecList(text: string): readonly ListedSpec[] {
  const list = listJson(text) ?? listYaml(text)
  if (list === undefined)
    throw new RegistryError('it is not a list of specs; write one, each entry with name and image')
  return list
}

/** Undefined where it is not JSON. */
function listJson(text: string): readonly ListedSpec[] | undefined {
  if (countValues(text) > maxValues)
    throw new RegistryError(`it has more than ${maxValues} values, which is the limit; split it into several lists`)
  const value = parseJson(text)
  const entries = isJsonObject(value) ? value.apps : value
  return Array.isArray(entries) ? entries.map(entry => toListed(isJsonObject(entry) ? entry : {})) : undefined
}

/** At least as many as it would take memory for: some of the signs may stand in texts. */
function countValues(text: string): number {
  let count = 0
  for (let index = 0; index < text.length; index++) {
    const char = text.charCodeAt(index)
    if (char === 0x2c || char === 0x5b || char === 0x7b) count++
  }
  return count
}

function toListed({ image, runtime, ...spec }: JsonObject): ListedSpec {
  return {
    name: asText({ value: spec.name }),
    image: asText({ value: image }),
    runtime: asText({ value: runtime }),
    hasManifests: spec.manifests !== undefined,
    source: () => JSON.stringify(spec),
  }
}

function listYaml(text: string): readonly ListedSpec[] | undefined {
  const size = Buffer.byteLength(text)
  if (size > maxBytes)
    throw new RegistryError(`it is not JSON, and too long for YAML: ${size} bytes of ${maxBytes}; write it as JSON`)
  const read = readSource(text)
  if (!read.ok) throw new RegistryError(read.mistakes.map(explain)[0] ?? 'it cannot be read')
  const { source } = read
  const path = isObject(source.root) ? ['apps'] : []
  const entries = valueAt(source.root, path)
  if (!Array.isArray(entries)) return undefined
  return entries.map((entry: Json, index) => {
    const shown = (key: string) => textAt(source, [...path, index, key])
    return {
      name: shown('name'),
      image: shown('image'),
      runtime: shown('runtime'),
      hasManifests: isJsonObject(entry) && entry.manifests !== undefined,
      source: () => toText(source.places, { value: entry }, ['image', 'runtime']),
    }
  })
}

/** YAML in one line. Numbers stay as they were written: a version 1.10 is not 1.1. */
function toText(places: Places, { value, text }: WrittenValue, without: readonly string[] = []): string {
  if (typeof value !== 'object' || value === null)
    return typeof value === 'number' ? (text ?? String(value)) : JSON.stringify(value)
  const inner = (key: string | number, child: Json | undefined = null) =>
    toText(places, { value: child, text: places.get(value)?.get(key)?.text })
  if (Array.isArray(value)) return `[${value.map((item: Json, index) => inner(index, item)).join(', ')}]`
  const members = Object.entries(value).filter(([key]) => !without.includes(key))
  return `{${members.map(([key, member]) => `${JSON.stringify(key)}: ${inner(key, member)}`).join(', ')}}`
}
