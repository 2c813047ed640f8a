import type { Document } from 'yaml'
import { relaxed } from '../../shape/describe.ts'
import { gatherNode, splitKey } from '../../shape/find-node.ts'
import type { Mistake } from '../../shape/mistake.ts'
import { isObject, placeOf, type Source } from '../../shape/place.ts'
import { type Environment, substitute } from '../../shape/placeholders.ts'
import { readYaml } from '../../shape/yaml.ts'
import { CatalogError } from '../problem.ts'
import { profilesOf, readSpringDocuments, type SpringDocuments } from './documents.ts'
import { unfoldKeys } from './unfold-keys.ts'

interface SpringCatalogOptions {
  readonly name: string
  readonly env: Environment
  readonly maxValues: number
}

/**
 * The services below `spring.cloud.openservicebroker.catalog`, of the last document that counts: Spring does not put lists
 * together. Undefined where no document has any. Throws a CatalogError where they cannot be read.
 */
export function readSpringCatalog(text: string, { name, env, maxValues }: SpringCatalogOptions) {
  let spring: SpringDocuments = { active: [], profiles: new Set(), lookUp: () => undefined, fromEnv: () => undefined }
  let withCatalog: readonly Document[] = []
  const pick = (document: Document, all: readonly Document[]) => {
    if (document === all[0]) {
      spring = readSpringDocuments(all, env)
      withCatalog = all.filter(candidate => catalogOf(candidate) !== undefined)
    }
    const last = withCatalog.findLast(candidate => spring.active.includes(candidate))
    return document === last ? catalogOf(document) : undefined
  }
  // Spring reads YAML 1.1: `free: yes` is true there.
  const { documents, faults } = readYaml(text, { name, version: '1.1', maxValues, pick })
  const [found] = documents
  if (withCatalog.length === 0) return undefined
  if (faults.length > 0) throw new CatalogError(faults)
  const { active, profiles, lookUp } = spring
  if (found === undefined) {
    const problem = `it has no catalog for the active profiles (${[...profiles].join(', ')})`
    const remedy = `set SPRING_PROFILES_ACTIVE; it has one for: ${withCatalog.map(profilesOf).join('; ')}`
    throw new CatalogError([{ path: [], place: { source: name }, problem, remedy }])
  }
  const { places } = found
  const root = unfoldKeys(found.root, places)
  const catalog = { ...found, root }
  const services: Source = { root: servicesIn(root), place: placeOf(catalog, ['services']) ?? { source: name }, places }
  const missing: Mistake[] = []
  substitute(services, lookUp, (path, variable) => {
    const problem = `the placeholder \${${variable}} stands for nothing`
    const remedy = `set the environment variable, or write a default: \${${variable}:default}`
    missing.push({ path, place: placeOf(services, path), problem, remedy })
  })
  if (missing.length > 0) throw new CatalogError(missing)
  if (name.endsWith('.properties')) typeTexts(services.root)
  return { services, spring: true, notes: active.some(hasAppBroker) ? [appBrokerNote(name)] : [] }
}

const catalogKeys = ['spring', 'cloud', 'openservicebroker', 'catalog']

/** What stands below the catalog in a document, if there are services. */
export function catalogOf(document: Document) {
  const catalog = gatherNode(document, catalogKeys)
  const isService = ({ key }: { key: unknown }) => relaxed(splitKey(String(key))[0] ?? '') === 'services'
  return catalog.items.some(isService) ? catalog : undefined
}

function servicesIn(catalog: unknown): unknown {
  return isObject(catalog) ? Object.entries(catalog).find(([key]) => relaxed(key) === 'services')?.[1] : undefined
}

function hasAppBroker(document: Document): boolean {
  return gatherNode(document, ['spring', 'cloud', 'appbroker']).items.length > 0
}

function appBrokerNote(source: string): Mistake {
  const problem = '"spring.cloud.appbroker" is passed over: nothing is deployed from it'
  return { severity: 'warning', path: [], place: { source }, problem, remedy: "do it in your services' actions" }
}

/** A .properties file holds only texts: in schemas and prices, numbers and flags are meant. */
function typeTexts(value: unknown, isTyped = false): unknown {
  if (typeof value === 'string')
    return isTyped && /^(true|false|-?(0|[1-9]\d*)(\.\d+)?)$/.test(value) ? JSON.parse(value) : value
  if (typeof value !== 'object' || value === null) return value
  for (const [key, item] of Object.entries(value))
    Reflect.set(value, key, typeTexts(item, isTyped || key === 'parameters' || key === 'amount'))
  return value
}
