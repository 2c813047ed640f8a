import * as yaml from 'yaml'
import { checkTokens, createBudget, FaultError } from './limits.ts'
import type { Mistake } from './mistake.ts'
import { type Place, type Places, quoted, type Source } from './place.ts'
import { composeProperties } from './properties.ts'

export interface YamlOptions {
  /** What places call the text: the name of its file. */
  readonly name: string
  /** 1.1 takes `yes` for true, as Spring does. */
  readonly version?: '1.1' | '1.2'
  readonly maxBytes?: number
  /** The part of a document that is read; where it is undefined, the document is left out. The rest may hold anything. */
  readonly pick?: (document: yaml.Document, all: readonly yaml.Document[]) => yaml.Node | null | undefined
  readonly maxValues?: number
}

export interface Yaml {
  /** One for each document of the text that was read; empty where there are faults. */
  readonly documents: readonly Source[]
  readonly faults: readonly Mistake[]
}

const maxFaults = 20

/** YAML (or JSON) as plain values with their places: aliases unfolded, merge keys merged. A .properties file is read, too. */
export function readYaml(text: string, options: YamlOptions): Yaml {
  const { name, version = '1.2', maxBytes = Number.POSITIVE_INFINITY, maxValues = 1_000_000, pick } = options
  const lines = new yaml.LineCounter()
  const placeAt = (offset: number): Place => {
    const { line, col } = lines.linePos(offset)
    return { source: name, line, column: col }
  }
  try {
    const size = Buffer.byteLength(text)
    const tooLong = { problem: `it has ${size} bytes, and ${maxBytes} is the limit`, remedy: 'make it shorter' }
    if (size > maxBytes) throw new FaultError({ place: { source: name }, ...tooLong })
    const compose = () => {
      const tokens = firstTokens(new yaml.Parser(lines.addNewLine).parse(text))
      checkTokens(tokens, maxValues, placeAt)
      // Keys are compared below: the library would compare each with each, which takes minutes for a hostile file.
      const composer = new yaml.Composer({ version, prettyErrors: false, logLevel: 'error', uniqueKeys: false })
      return [...composer.compose(tokens)]
    }
    const documents = name.endsWith('.properties') ? composeProperties(text, lines.addNewLine) : compose()
    const errors = documents.flatMap(document => document.errors).slice(0, maxFaults)
    if (errors.length > 0)
      return { documents: [], faults: distinct(errors.map(error => toFault(error, name, placeAt))) }
    const faults: Mistake[] = []
    const places: Places = new WeakMap()
    const unfolded = documents.flatMap(document => {
      const part = pick === undefined ? document.contents : pick(document, documents)
      return part === undefined ? [] : [unfold(document, part, { faults, places, placeAt, maxValues })]
    })
    return { documents: faults.length > 0 ? [] : unfolded, faults: faults.slice(0, maxFaults) }
  } catch (error) {
    if (error instanceof FaultError) return { documents: [], faults: [error.fault] }
    throw error
  }
}

interface Unfolding {
  readonly faults: Mistake[]
  readonly maxValues: number
  /** Of all documents, so that they can be put together. */
  readonly places: Places
  placeAt(offset: number): Place
}

function unfold(document: yaml.Document, part: yaml.Node | null, unfolding: Unfolding): Source {
  const { faults, places, placeAt, maxValues } = unfolding
  const targets = aliasTargets(document)
  const spend = createBudget(maxValues)
  const inside = new Set<yaml.Node>()
  const placeOf = (node: yaml.Node) => placeAt(node.range?.[0] ?? 0)
  const fault = (node: yaml.Node, problem: string, remedy: string) => {
    if (faults.length < maxFaults) faults.push({ path: [], place: placeOf(node), problem, remedy })
  }

  const follow = (node: yaml.Node): yaml.Node => {
    if (!yaml.isAlias(node)) return node
    const target = targets.get(node)
    const place = placeOf(node)
    if (target === undefined) throw new FaultError({ place, ...unknownAlias })
    const problem = `the anchor &${node.source} contains an alias of itself`
    if (inside.has(target)) throw new FaultError({ place, problem, remedy: 'remove the alias' })
    return target
  }

  const describe = (at: unknown, written: unknown): Place => {
    const node = yaml.isNode(written) ? follow(written) : undefined
    const place = yaml.isNode(at) ? placeOf(at) : placeAt(0)
    const text = yaml.isScalar(node) && node.type === 'PLAIN' ? node.source : undefined
    const tag = node?.tag?.startsWith('tag:yaml.org,2002:') === false ? node.tag : undefined
    return { ...place, text, tag }
  }

  const read = (written: unknown, depth: number): unknown => {
    if (!yaml.isNode(written)) return null
    const node = follow(written)
    spend(depth, () => ({ place: placeOf(node) }))
    if (yaml.isScalar(node)) return readScalar(node)
    inside.add(node)
    const value = yaml.isMap(node) ? readMap(node, depth) : yaml.isSeq(node) ? readList(node.items, depth) : null
    inside.delete(node)
    return value
  }

  const readScalar = (node: yaml.Scalar): unknown => {
    const { value } = node
    if (value === null || typeof value === 'string' || typeof value === 'boolean') return value
    if (typeof value === 'number' && Number.isFinite(value)) return value
    fault(node, 'JSON cannot hold this value', 'write text, a finite number, true, false or null')
    return null
  }

  const readList = (items: readonly unknown[], depth: number): unknown => {
    const value = items.map(item => read(item, depth + 1))
    places.set(value, new Map(items.map((item, index) => [index, describe(item, item)])))
    return value
  }

  const readMap = (node: yaml.YAMLMap, depth: number): unknown => {
    const pairs = new Map<string, yaml.Pair>()
    gather(node, pairs, depth)
    const value = Object.fromEntries([...pairs].map(([key, pair]) => [key, read(pair.value, depth + 1)]))
    places.set(value, new Map([...pairs].map(([key, pair]) => [key, describe(pair.key, pair.value)])))
    return value
  }

  /** A map's own keys first: they win over those that `<<` brings in, wherever it stands. */
  const gather = (node: yaml.YAMLMap, pairs: Map<string, yaml.Pair>, depth: number): void => {
    const merged: yaml.Node[] = []
    const own = new Map<string, Place>()
    for (const pair of node.items) {
      spend(depth, () => ({ place: placeOf(node) }))
      const key = yaml.isNode(pair.key) ? follow(pair.key) : undefined
      if (!yaml.isScalar(key)) fault(node, 'a key of this map is not a text', 'write a name before the colon')
      else if (key.source === '<<' && key.type === 'PLAIN') {
        if (yaml.isNode(pair.value)) merged.push(pair.value)
      } else {
        const name = typeof key.value === 'string' ? key.value : (key.source ?? String(key.value))
        const first = own.get(name)
        if (name === '__proto__') fault(key, 'a key must not be called __proto__', 'give it another name')
        else if (first !== undefined)
          fault(key, `the key ${quoted(name)} is given twice, first in line ${first.line}`, 'remove one of them')
        else if (!pairs.has(name)) pairs.set(name, pair)
        own.set(name, placeOf(key))
      }
    }
    for (const value of merged) merge(value, pairs, depth + 1)
  }

  const merge = (written: yaml.Node, pairs: Map<string, yaml.Pair>, depth: number): void => {
    const node = follow(written)
    spend(depth, () => ({ place: placeOf(node) }))
    inside.add(node)
    if (yaml.isMap(node)) gather(node, pairs, depth)
    else if (yaml.isSeq(node)) for (const item of node.items) if (yaml.isNode(item)) merge(item, pairs, depth + 1)
    inside.delete(node)
    if (!yaml.isMap(node) && !yaml.isSeq(node)) fault(written, '"<<" merges maps only', 'give it an alias of one')
  }

  return { root: read(part, 0), place: describe(part, part), places }
}

/** Up to where it is clear that the text is wrong: the second half of the parser takes long for each error. */
function firstTokens(parsing: Iterable<yaml.CST.Token>): readonly yaml.CST.Token[] {
  const tokens: yaml.CST.Token[] = []
  let errors = 0
  for (const token of parsing) {
    tokens.push(token)
    if (token.type === 'error' && ++errors >= maxFaults) break
  }
  return tokens
}

/** The name is not shown: a password may begin with *. */
const unknownAlias = {
  problem: 'a * that is not in quotes names an alias, and no anchor of that name stands before it',
  remedy: 'correct the name, or put the text in quotes',
}

/** An alias means the nearest anchor of its name before it. All are found in one pass: a search for each is quadratic. */
function aliasTargets(document: yaml.Document): ReadonlyMap<yaml.Alias, yaml.Node> {
  const anchors = new Map<string, yaml.Node>()
  const targets = new Map<yaml.Alias, yaml.Node>()
  yaml.visit(document, {
    Node(_, node) {
      if (yaml.isAlias(node)) {
        const target = anchors.get(node.source)
        if (target !== undefined) targets.set(node, target)
      } else if (node.anchor !== undefined) anchors.set(node.anchor, node)
    },
  })
  return targets
}

function toFault({ code, message, pos }: yaml.YAMLError, name: string, placeAt: (offset: number) => Place): Mistake {
  const spot = { path: [], place: placeAt(pos[0]) }
  // The parser's reasons are about YAML, and would not help.
  if (name.endsWith('.json')) return { ...spot, problem: 'not valid JSON', remedy: 'correct the text there' }
  // The parser quotes the text after a colon, and the text may be a password.
  let reason = message.split(/: |\n/)[0]
  let remedy = 'correct the text there'
  if (/^Unexpected alias/.test(message)) {
    reason = 'a * that is not in quotes names an alias'
    remedy = 'put a cron pattern in quotes'
  } else if (code === 'BLOCK_AS_IMPLICIT_KEY') {
    reason = 'two keys in one line'
    remedy = 'put a value that holds or ends with a colon in quotes'
  }
  return { ...spot, problem: `not valid YAML: ${reason}`, remedy }
}

function distinct(faults: readonly Mistake[]): readonly Mistake[] {
  return [...new Map(faults.map(fault => [`${fault.place?.line} ${fault.problem}`, fault])).values()]
}
