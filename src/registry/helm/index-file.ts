import { asText } from '../../bundle/reading.ts'
import { type Child, type Item, maxBytes, readSource } from '../../bundle/source.ts'
import { isJsonObject } from '../../protocol/json.ts'
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

/** A value of the index, and a way to look into it. */
interface Entry {
  readonly item: Item
  readonly child: Child
}

interface Release {
  readonly version: string | undefined
  /** Undefined where it cannot be read. */
  read(): Entry | undefined
}

export function readIndex(text: string): readonly Chart[] {
  return [...releasesOf(text)].flatMap(([name, releases]) => {
    const versions = newestFirst(releases.flatMap(({ version }) => version ?? []))
    const newest = versions.find(version => !isPreRelease(version)) ?? versions[0]
    const release = releases.find(({ version }) => version === newest)
    if (name === '' || newest === undefined || release === undefined) return []
    return { name, versions, newest, describe: () => toRelease(name, release.read()) }
  })
}

function toRelease(name: string, release: Entry | undefined): ChartRelease {
  return {
    description: textAt(release, 'description') ?? `The Helm chart ${name}`,
    archive: textAt(release, 'urls', 0),
    sha256: textAt(release, 'digest')?.replace(/^sha256:/, ''),
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
        const read = () => entryAt(readEntry(one), 0)
        return { version: version ?? textAt(read(), 'version'), read }
      }),
    ]),
  )
}

/** As somebody may have written it by hand. */
function readWhole(text: string): ReadonlyMap<string, readonly Release[]> {
  const entries = entryAt(readEntry(text), 'entries')
  if (entries === undefined || !isJsonObject(entries.item.value)) throw noIndex()
  return new Map(
    Object.entries(entries.item.value).map(([name, releases]) => [
      name,
      (Array.isArray(releases) ? [...releases.keys()] : []).map(index => {
        const release = entryAt(entries, name, index)
        return { version: textAt(release, 'version'), read: () => release }
      }),
    ]),
  )
}

function noIndex(): RegistryError {
  return new RegistryError('its index.yaml is not an index of charts; correct the url')
}

/** Undefined where it is not YAML, or too much of it. */
function readEntry(text: string): Entry | undefined {
  const source = readSource(text)
  return source.ok ? { item: source.root, child: source.child } : undefined
}

function entryAt(entry: Entry | undefined, ...keys: readonly (string | number)[]): Entry | undefined {
  if (entry === undefined) return undefined
  const { child } = entry
  let item: Item | undefined = entry.item
  for (const key of keys) item = item && child(item, key)
  return item && { item, child }
}

/** A version that looks like a number stays as it was written. */
function textAt(entry: Entry | undefined, ...keys: readonly (string | number)[]): string | undefined {
  const found = entryAt(entry, ...keys)
  return found && asText(found.item)
}
