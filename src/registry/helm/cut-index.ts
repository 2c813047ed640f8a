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
  return text.startsWith('{') ? cutJson(text) : cutYaml(text)
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
 * By indentation, which is sound: whatever belongs to a key or an item, texts of several lines included, is indented
 * further than it, but for the items of a list, which begin with a dash.
 */
function cutYaml(text: string): CutIndex | undefined {
  const lines = text.split(/\r?\n/)
  const start = lines.findIndex(line => /^entries:\s*(#.*)?$/.test(line))
  if (start < 0) return undefined
  const charts = new Map<string, CutRelease[]>()
  let chart: { readonly indent: number; readonly releases: CutRelease[] } | undefined
  let release: { readonly indent: number; readonly lines: string[] } | undefined
  const close = () => {
    if (release !== undefined) chart?.releases.push(toRelease(release.lines, release.indent))
    release = undefined
  }
  for (const line of lines.slice(start + 1)) {
    const indent = line.search(/[^ ]/)
    if (indent < 0 || line[indent] === '#') {
      release?.lines.push(line)
      continue
    }
    if (indent === 0) break
    const isItem = line.startsWith('- ', indent)
    if (
      isItem &&
      chart !== undefined &&
      indent >= chart.indent &&
      (release === undefined || indent === release.indent)
    ) {
      close()
      release = { indent, lines: [line] }
    } else if (release !== undefined && indent > release.indent) {
      release.lines.push(line)
    } else {
      const [, name] =
        /^ *(?:"([\w.-]+)"|'([\w.-]+)'|([\w.-]+)):\s*(?:#.*)?$/.exec(line)?.filter(part => part !== undefined) ?? []
      if (name === undefined || charts.has(name) || (chart !== undefined && indent !== chart.indent)) return undefined
      close()
      chart = { indent, releases: [] }
      charts.set(name, chart.releases)
    }
  }
  close()
  return charts
}

function toRelease(lines: readonly string[], indent: number): CutRelease {
  const key = new RegExp(`^ {${indent}}(?:- | {2})version: +(?:"([^"\\\\]+)"|'([^']+)'|([\\w.+-]+))\\s*$`)
  for (const line of lines) {
    const [, double, single, plain] = key.exec(line) ?? []
    const version = double ?? single ?? plain
    if (version !== undefined) return { version, text: lines.join('\n') }
  }
  return { version: undefined, text: lines.join('\n') }
}
