import { type Document, isAlias, isMap, isScalar, isSeq, LineCounter, parseDocument, type YAMLError } from 'yaml'
import type { Mistake } from './mistake.ts'
import { isTree, join, type Tree } from './tree.ts'

export interface YamlSource {
  readonly tree: Tree
  /** Line of each setting, by its path. */
  readonly lines: ReadonlyMap<string, number>
  readonly mistakes: readonly Mistake[]
}

/** Sections with a reader of their own, which gets them as they are written: their keys may be names of things. */
const verbatim: ReadonlySet<string> = new Set(['registries', 'registry'])

/**
 * Reads YAML with keys in camelCase, kebab-case or snake_case, nested or dotted (`server.port: 80`). A key without a value
 * counts as absent. `name` is what mistakes call the text.
 */
export function readYaml(text: string, name: string): YamlSource {
  const counter = new LineCounter()
  const document = parseDocument(text, { lineCounter: counter, prettyErrors: false, merge: true })
  if (document.errors.length > 0) {
    const mistakes = new Map(
      document.errors.map(error => {
        const mistake = toMistake(error, name, counter)
        return [`${mistake.where} ${mistake.problem}`, mistake]
      }),
    )
    return { tree: {}, lines: new Map(), mistakes: [...mistakes.values()] }
  }
  try {
    const content: unknown = document.toJS() ?? {}
    if (isTree(content)) return normalize(content, name, document, counter)
  } catch (error) {
    return { tree: {}, lines: new Map(), mistakes: [{ where: name, problem: withoutContent(error) }] }
  }
  const problem = 'the file is not a map of settings; write "key: value" lines'
  return { tree: {}, lines: new Map(), mistakes: [{ where: `${name}:1`, problem }] }
}

export function toCamelCase(key: string): string {
  return key.replace(/^[-_]+/, '').replaceAll(/[-_]+(.?)/g, (_, next: string) => next.toUpperCase())
}

function normalize(content: Tree, name: string, document: Document, counter: LineCounter): YamlSource {
  const lines = new Map<string, number>()
  const mistakes: Mistake[] = []

  function put(target: Tree, key: string, value: unknown, path: string, line: number): void {
    const present = Object.hasOwn(target, key) ? target[key] : undefined
    if (present === undefined) {
      target[key] = value
      if (!lines.has(path)) lines.set(path, line)
    } else if (isTree(present) && isTree(value)) {
      for (const [inner, child] of Object.entries(value)) put(present, inner, child, join(path, inner), line)
    } else {
      mistakes.push({
        where: `${name}:${line}`,
        path,
        problem: `given twice, first in line ${lines.get(path)}; keep one`,
      })
    }
  }

  function keep(value: unknown, path: string, source: readonly PropertyKey[]): unknown {
    if (!lines.has(path)) lines.set(path, lineOf(document, counter, source))
    if (Array.isArray(value)) return value.map((item, index) => keep(item, join(path, index), [...source, index]))
    // A tag such as 1.10 is no number, though YAML takes it for one.
    if (typeof value === 'number') return writtenAt(document, source) ?? value
    if (!isTree(value)) return value
    return Object.fromEntries(
      Object.entries(value).map(([key, child]) => [key, keep(child, join(path, key), [...source, key])]),
    )
  }

  function convert(value: unknown, path: string, source: readonly PropertyKey[]): unknown {
    if (verbatim.has(path)) return keep(value, path, source)
    if (Array.isArray(value)) {
      return value.map((item, index) => {
        lines.set(join(path, index), lineOf(document, counter, [...source, index]))
        return convert(item, join(path, index), [...source, index])
      })
    }
    if (!isTree(value)) return value
    const converted: Tree = {}
    for (const [key, child] of Object.entries(value)) {
      if (child === null) continue
      const segments = key.split('.').filter(segment => segment !== '')
      const keys = segments.length === 0 ? [key] : segments.map(toCamelCase)
      const line = lineOf(document, counter, [...source, key])
      const full = keys.reduce((prefix, segment) => join(prefix, segment), path)
      const nested = keys
        .slice(1)
        .reduceRight<unknown>((inner, segment) => ({ [segment]: inner }), convert(child, full, [...source, key]))
      put(converted, keys[0] ?? key, nested, join(path, keys[0] ?? key), line)
      if (!lines.has(full)) lines.set(full, line)
    }
    return converted
  }

  const tree = convert(content, '', [])
  return { tree: isTree(tree) ? tree : {}, lines, mistakes }
}

/** The line of the deepest part of the path that stands in the text: what a merge key brought in has none of its own. */
function lineOf(document: Document, counter: LineCounter, path: readonly PropertyKey[]): number {
  return counter.linePos(find(document, path).offset).line
}

/** A scalar as it stands in the text. */
function writtenAt(document: Document, path: readonly PropertyKey[]): string | undefined {
  const { node } = find(document, path)
  const scalar = isAlias(node) ? node.resolve(document) : node
  return isScalar(scalar) ? scalar.source : undefined
}

function find(document: Document, path: readonly PropertyKey[]): { node?: unknown; offset: number } {
  let node: unknown = document.contents
  let offset = 0
  for (const segment of path) {
    if (isAlias(node)) node = node.resolve(document)
    if (isMap(node)) {
      const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === String(segment))
      if (pair === undefined) return { offset }
      if (isScalar(pair.key)) offset = pair.key.range?.[0] ?? offset
      node = pair.value
    } else if (isSeq(node)) {
      node = node.items[Number(segment)]
      if (isMap(node) || isScalar(node) || isSeq(node)) offset = node.range?.[0] ?? offset
    } else return { offset }
  }
  return { node, offset }
}

function toMistake(error: YAMLError, name: string, counter: LineCounter): Mistake {
  const problem = /^Unexpected alias/.test(error.message) ? aliasWords : (ownWords[error.code] ?? withoutContent(error))
  return { where: `${name}:${counter.linePos(error.pos[0]).line}`, problem }
}

const aliasWords = 'not valid YAML: a * that is not in quotes names an alias; put a cron pattern in quotes'

const ownWords: Readonly<Record<string, string>> = {
  MULTIPLE_DOCS: 'the file holds several YAML documents; keep one',
  BLOCK_AS_IMPLICIT_KEY: 'not valid YAML: two keys in one line; put a value that holds or ends with a colon in quotes',
}

/** The parser quotes the text after a colon, and the text may be a password. */
function withoutContent(error: unknown): string {
  const message = error instanceof Error ? error.message.split(/: |\n/)[0] : undefined
  return `not valid YAML: ${message ?? 'it could not be read'}`
}
