import { isMap, isScalar, isSeq, type YAMLMap } from 'yaml'
import { maxBytes, SourceError } from '../../bundle/budget.ts'
import { present } from '../../bundle/present.ts'
import { parseDocuments } from '../../bundle/yaml-documents.ts'
import { RegistryError } from '../registry-error.ts'
import { cutIndex } from './cut-index.ts'
import { isPreRelease, newestFirst } from './version.ts'

export interface Chart {
  readonly name: string
  /** Newest first. */
  readonly versions: readonly string[]
  /** The newest that is no pre-release, or else the newest. */
  readonly newest: string
  /** What the index says about the newest one. Read when it is asked for: that takes longer than all the rest. */
  describe(): ChartRelease
}

export interface ChartRelease {
  readonly description: string
  /** Where its archive is, from the index on; absent where the index does not say so. */
  readonly archive?: string
  /** Of the archive, where the index knows it. */
  readonly sha256?: string
}

interface Release {
  readonly version: string | undefined
  /** Undefined where it cannot be read. */
  read(): YAMLMap | undefined
}

/** The charts of an index.yaml. Aliases are passed over: nobody writes them there, and they can make a little text huge. */
export function readIndex(text: string): readonly Chart[] {
  return [...releasesOf(text)].flatMap(([name, releases]) => {
    const versions = newestFirst(releases.flatMap(({ version }) => version ?? []))
    const newest = versions.find(version => !isPreRelease(version)) ?? versions[0]
    const release = releases.find(({ version }) => version === newest)
    if (name === '' || newest === undefined || release === undefined) return []
    return { name, versions, newest, describe: () => toRelease(name, release.read()) }
  })
}

function toRelease(name: string, release: YAMLMap | undefined): ChartRelease {
  const urls: unknown = release?.get('urls', true)
  const [url] = isSeq(urls) ? urls.items : []
  return {
    description: field(release, 'description') ?? `The Helm chart ${name}`,
    ...present({
      archive: isScalar(url) ? String(url.value) : undefined,
      sha256: field(release, 'digest')?.replace(/^sha256:/, ''),
    }),
  }
}

function releasesOf(text: string): ReadonlyMap<string, readonly Release[]> {
  const cut = cutIndex(text)
  if (cut === undefined) return readWhole(text)
  const unseen = [...cut.values()].flat().filter(({ version }) => version === undefined)
  if (unseen.reduce((sum, one) => sum + one.text.length, 0) > maxBytes) throw noIndex()
  return new Map(
    [...cut].map(([name, releases]) => [
      name,
      releases.map(({ version, text: one }) => {
        const read = () => readOne(one)
        return { version: version ?? field(read(), 'version'), read }
      }),
    ]),
  )
}

function readOne(text: string): YAMLMap | undefined {
  const list = contentsOf(text)
  const [release] = isSeq(list) ? list.items : []
  return isMap(release) ? release : undefined
}

/** As somebody may have written it by hand. */
function readWhole(text: string): ReadonlyMap<string, readonly Release[]> {
  const root = contentsOf(text)
  const entries: unknown = isMap(root) ? root.get('entries', true) : undefined
  if (!isMap(entries)) throw noIndex()
  return new Map(
    entries.items.map(({ key, value }) => [
      isScalar(key) ? String(key.value) : '',
      (isSeq(value) ? value.items.filter(isMap) : []).map(release => ({
        version: field(release, 'version'),
        read: () => release,
      })),
    ]),
  )
}

function noIndex(): RegistryError {
  return new RegistryError('its index.yaml is not an index of charts; correct the url')
}

/** Undefined where it is no YAML, or too much of it. */
function contentsOf(text: string): unknown {
  if (text.length > maxBytes) return undefined
  try {
    const [document] = parseDocuments(text).documents
    return document?.errors.length === 0 ? document.contents : undefined
  } catch (error) {
    if (error instanceof SourceError) return undefined
    throw error
  }
}

function field(map: YAMLMap | undefined, key: string): string | undefined {
  const node: unknown = map?.get(key, true)
  if (!isScalar(node)) return undefined
  // A version that looks like a number stays as it was written.
  if (typeof node.value === 'string') return node.value
  return typeof node.value === 'number' ? (node.source ?? String(node.value)) : undefined
}
