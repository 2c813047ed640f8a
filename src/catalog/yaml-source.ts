import {
  Composer,
  type Document,
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  type Pair,
  Parser,
  visit,
  type YAMLMap,
} from 'yaml'
import type { Path } from './check-fields.ts'
import { findTooDeep, tooDeep } from './yaml-depth.ts'

/** A fault of the text itself, at its place. */
export interface SourceFault {
  readonly place: string
  readonly reason: string
}

/** The list of services that a file holds, with the way back from a path to the line it was written in. */
export interface CatalogSource {
  readonly services: unknown
  /** Whether it stands where Spring looks for it: then Spring's leniency and defaults hold. */
  readonly spring: boolean
  /** `file:line:column` of what a path below the list was made from, or of the nearest thing above it. */
  where(path: Path): string
}

/** What makes a key ours in spite of its spelling: `plan_updateable`, `plan-updateable`, `planUpdateable`. */
export function relaxed(key: string): string {
  return key.toLowerCase().replaceAll(/[-_]/g, '')
}

/** Where a catalog may stand in a document, the most particular place first. */
const places = [
  { keys: ['spring', 'cloud', 'openservicebroker', 'catalog', 'services'], spring: true },
  { keys: ['catalog', 'services'], spring: false },
  { keys: ['services'], spring: false },
] as const

/** More aliases than a generous catalog needs, and far fewer than a text that unfolds to gigabytes. */
const maxAliasCount = 1000

/** Finds the catalog in the first document that has one; `undefined` where none has. */
export function readSource(text: string, file: string): CatalogSource | SourceFault[] | undefined {
  const source = readAs('1.2', text, file)
  const spring = source !== undefined && !Array.isArray(source) && source.spring
  // Spring reads YAML 1.1: `free: yes` is true there.
  return spring ? readAs('1.1', text, file) : source
}

function readAs(version: '1.1' | '1.2', text: string, file: string): CatalogSource | SourceFault[] | undefined {
  const lines = new LineCounter()
  const at = (offset: number) => {
    const { line, col } = lines.linePos(offset)
    return `${file}:${line}:${col}`
  }
  const tokens = [...new Parser(lines.addNewLine).parse(text)]
  const deep = findTooDeep(tokens)
  if (deep !== undefined) return [{ place: at(deep.offset), reason: tooDeep }]
  const composer = new Composer({ version, merge: true, prettyErrors: false, logLevel: 'error' })
  const documents = [...composer.compose(tokens)]
  const faults = documents.flatMap(({ errors }) =>
    errors.map(({ pos, message }) => ({ place: at(pos[0]), reason: message })),
  )
  if (faults.length > 0) return faults

  for (const document of documents) {
    for (const { keys, spring } of places) {
      const node = find(document, document.contents, keys)
      if (node === undefined) continue
      const foreign = foreignTags(document, node).map(({ offset, reason }) => ({ place: at(offset), reason }))
      if (foreign.length > 0) return foreign
      try {
        const services: unknown = node.toJS(document, { maxAliasCount })
        if (isCyclic(services)) throw new Error('an anchor contains an alias of itself')
        return { services, spring, where: path => at(locate(document, node, path)) }
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error)
        return [{ place: at(brokenAlias(document) ?? offsetOf(node)), reason }]
      }
    }
  }
  return undefined
}

/** Follows the keys, of which several may be written as one with dots: `spring.cloud.openservicebroker:`. */
function find(document: Document, start: unknown, keys: readonly string[]): Node | undefined {
  const node = resolve(document, start)
  if (keys.length === 0) return isNode(node) ? node : undefined
  if (!isMap(node)) return undefined
  for (let count = keys.length; count > 0; count--) {
    const key = keys.slice(0, count).join('.')
    for (const pair of node.items) {
      if (relaxed(keyOf(pair)) !== key) continue
      const found = find(document, pair.value, keys.slice(count))
      if (found !== undefined) return found
    }
  }
  return undefined
}

/** The offset of what the path leads to, as far as the text goes along. */
function locate(document: Document, start: Node, path: Path): number {
  let node: unknown = start
  let offset = offsetOf(start)
  for (const part of path) {
    const parent = resolve(document, node)
    if (isSeq(parent) && typeof part === 'number') node = parent.items[part]
    else if (isMap(parent)) {
      const pair = findPair(parent, String(part))
      if (pair === undefined) break
      if (isNode(pair.key)) offset = offsetOf(pair.key)
      node = pair.value
      continue
    } else break
    if (!isNode(node)) break
    offset = offsetOf(node)
  }
  return offset
}

function findPair(map: YAMLMap, key: string): Pair | undefined {
  return map.items.find(pair => keyOf(pair) === key) ?? map.items.find(pair => relaxed(keyOf(pair)) === relaxed(key))
}

function keyOf({ key }: Pair): string {
  return isScalar(key) ? String(key.value) : ''
}

function resolve(document: Document, node: unknown): unknown {
  return isAlias(node) ? node.resolve(document) : node
}

/** A tag that nobody resolved would silently turn into text. Outside the catalog it is none of our business. */
function foreignTags(document: Document, node: Node): { offset: number; reason: string }[] {
  const [start, end] = node.range ?? [0, 0]
  return document.warnings
    .filter(({ pos }) => pos[0] >= start && pos[0] <= end)
    .map(({ pos, message }) => ({ offset: pos[0], reason: message }))
}

function brokenAlias(document: Document): number | undefined {
  let offset: number | undefined
  visit(document, {
    Alias(_, alias) {
      if (alias.resolve(document) !== undefined) return undefined
      offset = offsetOf(alias)
      return visit.BREAK
    },
  })
  return offset
}

function isCyclic(value: unknown, above = new Set<object>(), done = new Set<object>()): boolean {
  if (typeof value !== 'object' || value === null || done.has(value)) return false
  if (above.has(value)) return true
  above.add(value)
  const cyclic = Object.values(value).some(item => isCyclic(item, above, done))
  above.delete(value)
  done.add(value)
  return cyclic
}

function offsetOf(node: Node): number {
  return node.range?.[0] ?? 0
}
