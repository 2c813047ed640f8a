import { type Document, isAlias, isMap, isNode, isScalar, type Node } from 'yaml'
import { relaxed } from '../shape/describe.ts'
import type { Source } from '../shape/place.ts'
import { readYaml } from '../shape/yaml.ts'
import { CatalogError } from './problem.ts'

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

/** Finds the catalog in the first document that has one. Throws a CatalogError where it cannot be read. */
export function readSource(text: string, name: string): CatalogSource {
  const source = readAs('1.2', text, name)
  // Spring reads YAML 1.1: `free: yes` is true there.
  return source.spring ? readAs('1.1', text, name) : source
}

function readAs(version: '1.1' | '1.2', text: string, name: string): CatalogSource {
  let found: (typeof places)[number] | undefined
  const pick = (document: Document): Node | undefined => {
    if (found !== undefined) return undefined
    found = places.find(({ keys }) => find(document, document.contents, keys) !== undefined)
    return found && find(document, document.contents, found.keys)
  }
  const { documents, faults } = readYaml(text, { name, version, pick, maxValues })
  const [services] = documents
  if (faults.length > 0) throw new CatalogError(faults)
  if (services === undefined) {
    const remedy = 'list the services under "services:" at the top level'
    throw new CatalogError([{ path: [], place: { source: name }, problem: 'it has no catalog', remedy }])
  }
  if (!Array.isArray(services.root)) {
    const remedy = 'begin each service with "- id:"'
    throw new CatalogError([{ path: [], place: services.place, problem: '"services" must be a list', remedy }])
  }
  return { services, spring: found?.spring === true }
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
