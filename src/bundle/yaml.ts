import {
  type Alias,
  type Document,
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  type Node,
  type Pair,
  type Scalar,
  visit,
  type YAMLMap,
} from 'yaml'
import type { Json } from '../protocol/json.ts'
import { createBudget, maxBytes, protoProblem, SourceError, type SourceFault } from './budget.ts'
import { parseDocuments } from './yaml-documents.ts'

export interface Place {
  readonly line: number
  readonly text?: string
}

/** Where each key or index of a list or object was written, and as what. */
export type Places = WeakMap<object, ReadonlyMap<string | number, Place>>

type LineAt = (offset: number) => number

/**
 * YAML as plain JSON, with aliases unfolded and merge keys merged. Faults of the text are listed; what keeps it from being
 * read at all is thrown.
 */
export function readYaml(text: string, places: Places, faults: SourceFault[]): Json {
  const size = Buffer.byteLength(text)
  if (size > maxBytes)
    throw new SourceError({
      problem: `it has ${size} bytes, and ${maxBytes} is the limit; take out what is not part of a spec`,
    })
  const { documents, lineAt } = parseDocuments(text)
  const [document, second] = documents
  if (document === undefined || isNothing(document.contents))
    throw new SourceError({ line: 1, problem: 'it is empty; write version, name, description and plans' })
  for (const { pos, message } of [...document.errors, ...document.warnings].slice(0, maxFaults))
    faults.push({
      line: lineAt(pos[0]),
      problem: `it is not valid YAML (${firstLine(message)}); correct the text there`,
    })
  if (second !== undefined)
    faults.push({ line: lineAt(second.range[0]), problem: 'a second document begins here; keep one spec in one file' })
  return faults.length > 0 ? null : unfold(document, places, faults, lineAt)
}

const maxFaults = 20

function unfold(document: Document, places: Places, faults: SourceFault[], lineAt: LineAt): Json {
  const targets = aliasTargets(document)
  const spend = createBudget()
  const inside = new Set<Node>()
  const lineOf = (node: Node) => lineAt(node.range?.[0] ?? 0)
  const fault = (node: Node, problem: string) => {
    if (faults.length < maxFaults) faults.push({ line: lineOf(node), problem })
  }

  const follow = (node: Node): Node => {
    if (!isAlias(node)) return node
    const target = targets.get(node)
    const line = lineOf(node)
    const name = shortened(node.source)
    if (target === undefined)
      throw new SourceError({ line, problem: `no anchor &${name} stands before the alias *${name}; correct its name` })
    if (inside.has(target))
      throw new SourceError({ line, problem: `the anchor &${name} contains an alias of itself; remove the alias` })
    return target
  }

  const placeOf = (at: unknown, value: unknown): Place => {
    const node = isNode(value) ? follow(value) : undefined
    const text = isScalar(node) && node.type === 'PLAIN' ? node.source : undefined
    return { line: isNode(at) ? lineOf(at) : 1, text }
  }

  const read = (written: unknown, depth: number): Json => {
    if (!isNode(written)) return null
    const node = follow(written)
    spend(depth, { line: lineOf(node) })
    if (isScalar(node)) return readScalar(node)
    inside.add(node)
    const value = isMap(node) ? readObject(node, depth) : isSeq(node) ? readList(node.items, depth) : null
    inside.delete(node)
    return value
  }

  const readScalar = (node: Scalar): Json => {
    const { value } = node
    if (value === null || typeof value === 'string' || typeof value === 'boolean') return value
    if (typeof value === 'number' && Number.isFinite(value)) return value
    fault(node, 'JSON cannot hold this value; write text, a finite number, true, false or null')
    return null
  }

  const readList = (items: readonly unknown[], depth: number): Json => {
    const value = items.map(item => read(item, depth + 1))
    places.set(value, new Map(items.map((item, index) => [index, placeOf(item, item)])))
    return value
  }

  const readObject = (node: YAMLMap, depth: number): Json => {
    const pairs = new Map<string, Pair>()
    gather(node, pairs, depth)
    const value = Object.fromEntries([...pairs].map(([key, pair]) => [key, read(pair.value, depth + 1)]))
    places.set(value, new Map([...pairs].map(([key, pair]) => [key, placeOf(pair.key, pair.value)])))
    return value
  }

  /** A map's own keys first: they win over those that `<<` brings in, wherever it stands. */
  const gather = (node: YAMLMap, pairs: Map<string, Pair>, depth: number): void => {
    const merged: Node[] = []
    const own = new Set<string>()
    for (const pair of node.items) {
      spend(depth, { line: lineOf(node) })
      const key = isNode(pair.key) ? follow(pair.key) : undefined
      if (!isScalar(key)) {
        fault(node, 'a key of this object is not text; write a name before the colon')
      } else if (key.value === '<<' && key.type === 'PLAIN') {
        if (isNode(pair.value)) merged.push(pair.value)
      } else {
        const name = typeof key.value === 'string' ? key.value : (key.source ?? String(key.value))
        if (name === '__proto__') fault(key, protoProblem)
        else if (own.has(name)) fault(key, `the key "${shortened(name)}" is given twice; remove one of them`)
        else if (!pairs.has(name)) pairs.set(name, pair)
        own.add(name)
      }
    }
    for (const value of merged) merge(value, pairs, depth + 1)
  }

  const merge = (written: Node, pairs: Map<string, Pair>, depth: number): void => {
    const node = follow(written)
    spend(depth, { line: lineOf(node) })
    inside.add(node)
    if (isMap(node)) gather(node, pairs, depth)
    else if (isSeq(node)) for (const item of node.items) if (isNode(item)) merge(item, pairs, depth + 1)
    inside.delete(node)
    if (!isMap(node) && !isSeq(node)) fault(written, '"<<" merges objects only; give it an alias of one')
  }

  return read(document.contents, 0)
}

/** An alias means the nearest anchor of its name before it. All are found in one pass: a search for each is quadratic. */
function aliasTargets(document: Document): ReadonlyMap<Alias, Node> {
  const anchors = new Map<string, Node>()
  const targets = new Map<Alias, Node>()
  visit(document, {
    Node(_, node) {
      if (isAlias(node)) {
        const target = anchors.get(node.source)
        if (target !== undefined) targets.set(node, target)
      } else if (node.anchor !== undefined) anchors.set(node.anchor, node)
    },
  })
  return targets
}

function isNothing(node: unknown): boolean {
  return node === null || (isScalar(node) && node.value === null)
}

function firstLine(message: string): string {
  return shortened(message.split('\n')[0] ?? '')
}

function shortened(text: string): string {
  return text.length > 80 ? `${text.slice(0, 80)}…` : text
}
