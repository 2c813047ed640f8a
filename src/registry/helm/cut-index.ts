import { isJsonObject, parseJson } from '../../protocol/json.ts'

/** One release of a chart: a list of one, in YAML. */
export interface CutRelease {
  /** Where it can be seen without reading the rest. */
  readonly version: string | undefined
  readonly text: string
}

export type CutIndex = ReadonlyMap<string, readonly CutRelease[]>

/**
 * The releases of every chart, each as a text of its own: an index has thousands of them, of which only the newest ones are
 * read, and the YAML parser would take a minute for the whole. Undefined where it is not written as Helm writes it.
 */
export function cutIndex(text: string): CutIndex | undefined {
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
