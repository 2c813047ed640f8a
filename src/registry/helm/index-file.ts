import { maxBytes, readSource, type SourceReading } from '../../bundle/source.ts'
import { isJsonObject, parseJson } from '../../protocol/json.ts'
import { textAt } from '../../shape/fields.ts'
import { isObject, type Path, valueAt } from '../../shape/place.ts'
import { isPreRelease, newestFirst } from '../../shape/version.ts'
import { RegistryError } from '../registry-error.ts'

export interface Chart {
  readonly name: string
  /** Newest first. */
  readonly versions: readonly string[]
  /** The newest that is not a pre-release, or else the newest. */
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

/** The text at these keys; a version that looks like a number stays as it was written. */
type Look = (...keys: Path) => string | undefined

interface Release {
  readonly version: string | undefined
  /** Finds nothing where it cannot be read. */
  read(): Look
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

function toRelease(name: string, look: Look): ChartRelease {
  return {
    description: look('description') ?? `The Helm chart ${name}`,
    archive: look('urls', 0),
    sha256: look('digest')?.replace(/^sha256:/, ''),
  }
}

function releasesOf(text: string): ReadonlyMap<string, readonly Release[]> {
  const cut = cutIndex(text)
  if (cut === undefined) return readWhole(text)
  const unseen = [...cut.values()].flat().filter(({ version }) => version === undefined)
  if (unseen.reduce((sum, one) => sum + one.text.length, 0) > maxBytes) throw notAnIndex()
  return new Map(
    [...cut].map(([name, releases]) => [
      name,
      releases.map(({ version, text: one }) => {
        const read = () => lookInto(readSource(one), 0)
        return { version: version ?? read()('version'), read }
      }),
    ]),
  )
}

/** As somebody may have written it by hand. */
function readWhole(text: string): ReadonlyMap<string, readonly Release[]> {
  const read = readSource(text)
  const entries = read.ok ? valueAt(read.source.root, ['entries']) : undefined
  if (!isObject(entries)) throw notAnIndex()
  return new Map(
    Object.entries(entries).map(([name, releases]) => [
      name,
      (Array.isArray(releases) ? [...releases.keys()] : []).map(index => {
        const look = lookInto(read, 'entries', name, index)
        return { version: look('version'), read: () => look }
      }),
    ]),
  )
}

function notAnIndex(): RegistryError {
  return new RegistryError('its index.yaml is not an index of charts; correct the url')
}

function lookInto(read: SourceReading, ...above: Path): Look {
  return (...keys) => (read.ok ? textAt(read.source, [...above, ...keys]) : undefined)
}

/** One release of a chart: a list of one, in YAML. */
interface CutRelease {
  /** Where it can be seen without reading the rest. */
  readonly version: string | undefined
  readonly text: string
}

type CutIndex = ReadonlyMap<string, readonly CutRelease[]>

/**
 * The releases of every chart, each as a text of its own: an index has thousands of them, of which only the newest ones are
 * read, and the YAML parser would take a minute for the whole. Undefined where it is not written as Helm writes it.
 */
function cutIndex(text: string): CutIndex | undefined {
  return text.startsWith('{') ? cutJson(text) : cutYaml(text.replaceAll('\r\n', '\n'))
}

function cutJson(text: string): CutIndex | undefined {
  const index = parseJson(text)
  const entries = isJsonObject(index) ? index.entries : undefined
  if (!isJsonObject(entries)) return undefined
  return new Map(
    Object.entries(entries).map(([name, releases]) => [
      name,
      (Array.isArray(releases) ? releases.filter(isJsonObject) : []).map(release => ({
        version: typeof release.version === 'string' ? release.version : undefined,
        text: JSON.stringify([release]),
      })),
    ]),
  )
}

/**
 * By indentation, which is safe: whatever belongs to a key or an item, texts of several lines included, is indented further
 * than it. Only the items of a list may begin where their key does, with a dash.
 */
function cutYaml(text: string): CutIndex | undefined {
  const [, below] = /(?:^|\n)entries:[^\S\n]*(?:#.*)?(\n[\s\S]*)?$/.exec(text) ?? []
  const [body = ''] = below?.split(/(?<=\n)(?=[^\s#])/, 1) ?? []
  const [, indent = ' '] = /\n( +)[^\s#]/.exec(body) ?? []
  const [before = '', ...charts] = body.split(new RegExp(`(?<=\\n)(?=${indent}[^\\s#-])`))
  if (below === undefined || !isBlank(before)) return undefined
  const index = new Map<string, readonly CutRelease[]>()
  for (const chart of charts) {
    const [, , name = '', items = ''] = /^ +(["']?)([\w.-]+)\1:[^\S\n]*(?:#.*)?(\n[\s\S]*)?$/.exec(chart) ?? []
    const releases = cutReleases(items)
    if (name === '' || index.has(name) || releases === undefined) return undefined
    index.set(name, releases)
  }
  return index
}

function cutReleases(items: string): readonly CutRelease[] | undefined {
  const [, indent = ''] = /\n( *)- /.exec(items) ?? []
  const [before = '', ...releases] = items.split(new RegExp(`(?<=\\n)(?=${indent}- )`))
  const outside = new RegExp(`\\n {0,${indent.length}}[^\\s#]`)
  if (!isBlank(before) || releases.some(text => outside.test(text))) return undefined
  const version = new RegExp(`^${indent}(?:- |  )version: +(?:"([^"\\\\]+)"|'([^']+)'|([\\w.+-]+))\\s*$`, 'm')
  return releases.map(text => {
    const [, double, single, plain] = version.exec(text) ?? []
    return { version: double ?? single ?? plain, text }
  })
}

function isBlank(text: string): boolean {
  return text.split('\n').every(line => /^\s*(#|$)/.test(line))
}
