import { type Document, isAlias, isMap, isNode, isScalar, isSeq, type Node, Pair, Scalar, YAMLMap } from 'yaml'
import { relaxed } from './describe.ts'

/** The parts of a key: `services[0].id` is `services`, `[0]` and `id`. What stands in brackets is taken as it is. */
export function splitKey(key: string): readonly string[] {
  return key.match(/\[[^\]]*\]|[^.[\]]+/g) ?? [key]
}

/** Follows the keys, of which several may be written as one with dots: `spring.cloud.openservicebroker:`. */
export function findNode(document: Document, keys: readonly string[], start: unknown = document.contents) {
  return search(document, keys.map(relaxed), start)
}

function search(document: Document, keys: readonly string[], start: unknown): Node | undefined {
  const node = isAlias(start) ? start.resolve(document) : start
  if (keys.length === 0) return isNode(node) ? node : undefined
  if (!isMap(node)) return undefined
  for (let count = keys.length; count > 0; count--) {
    const wanted = keys.slice(0, count).join('.')
    for (const { key, value } of node.items) {
      if (!isScalar(key) || relaxed(String(key.value)) !== wanted) continue
      const found = search(document, keys.slice(count), value)
      if (found !== undefined) return found
    }
  }
  return undefined
}

/** What stands below these keys, as one map: `a.b.c: 1` and `a: { b: { d: 2 } }` have c and d below a and b. */
export function gatherNode(document: Document, keys: readonly string[]): YAMLMap {
  const found = new YAMLMap()
  const visit = (written: unknown, rest: readonly string[]): void => {
    const node = isAlias(written) ? written.resolve(document) : written
    if (!isMap(node)) return
    if (rest.length === 0) found.items.push(...node.items)
    for (const { key, value } of rest.length === 0 ? [] : node.items) {
      if (!isScalar(key)) continue
      const parts = splitKey(String(key.value))
      const common = Math.min(parts.length, rest.length)
      if (!rest.slice(0, common).every((name, index) => relaxed(parts[index] ?? '') === name)) continue
      if (parts.length <= rest.length) visit(value, rest.slice(common))
      else {
        const below = new Scalar(parts.slice(common).join('.'))
        below.range = key.range
        found.items.push(new Pair(below, value))
      }
    }
  }
  visit(document.contents, keys.map(relaxed))
  return found
}

/** The texts of a scalar, or of a list of them. */
export function textsOf(document: Document, written: unknown): readonly string[] {
  const node = isAlias(written) ? written.resolve(document) : written
  if (isSeq(node)) return node.items.flatMap(item => textsOf(document, item))
  if (!isScalar(node) || node.value === null) return []
  return [typeof node.value === 'string' ? node.value : (node.source ?? String(node.value))]
}
