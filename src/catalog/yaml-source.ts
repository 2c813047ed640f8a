import { type Document, isAlias, isMap, isNode, isScalar, type Node } from 'yaml'
import { relaxed } from '../shape/describe.ts'
import type { Mistake } from '../shape/mistake.ts'
import type { Source } from '../shape/place.ts'
import { readYaml } from '../shape/yaml.ts'

/** The list of services that a file holds. */
export interface CatalogSource {
  readonly services: Source
  /** Whether it stands where Spring looks for it: then Spring's leniency and defaults hold. */
  readonly spring: boolean
}

/** Where a catalog may stand in a document, the most particular place first. */
const places = [
  { keys: ['spring', 'cloud', 'openservicebroker', 'catalog', 'services'], spring: true },
  { keys: ['catalog', 'services'], spring: false },
  { keys: ['services'], spring: false },
] as const

/** Far more than a large catalog has, and few enough that a text full of aliases is refused at once. */
const maxValues = 200_000

/** Finds the catalog in the first document that has one; `undefined` where none has. */
export function readSource(text: string, name: string): CatalogSource | readonly Mistake[] | undefined {
  const source = readAs('1.2', text, name)
  const spring = source !== undefined && 'spring' in source && source.spring
  // Spring reads YAML 1.1: `free: yes` is true there.
  return spring ? readAs('1.1', text, name) : source
}

function readAs(version: '1.1' | '1.2', text: string, name: string): CatalogSource | readonly Mistake[] | undefined {
  let found: (typeof places)[number] | undefined
  const pick = (document: Document): Node | undefined => {
    if (found !== undefined) return undefined
    for (const place of places) {
      const node = find(document, document.contents, place.keys)
      if (node === undefined) continue
      found = place
      return node
    }
    return undefined
  }
  const { documents, faults } = readYaml(text, { name, version, pick, maxValues })
  const [services] = documents
  if (faults.length > 0) return faults
  return services && { services, spring: found?.spring === true }
}

/** Follows the keys, of which several may be written as one with dots: `spring.cloud.openservicebroker:`. */
function find(document: Document, start: unknown, keys: readonly string[]): Node | undefined {
  const node = isAlias(start) ? start.resolve(document) : start
  if (keys.length === 0) return isNode(node) ? node : undefined
  if (!isMap(node)) return undefined
  for (let count = keys.length; count > 0; count--) {
    const wanted = keys.slice(0, count).join('.')
    for (const { key, value } of node.items) {
      if (!isScalar(key) || relaxed(String(key.value)) !== wanted) continue
      const found = find(document, value, keys.slice(count))
      if (found !== undefined) return found
    }
  }
  return undefined
}
