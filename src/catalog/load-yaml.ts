import { readFile } from 'node:fs/promises'
import { dirname, extname, join } from 'node:path'
import { type Document, isAlias, isMap, isNode, isScalar, type Node } from 'yaml'
import type { Offering } from '../protocol/offering.ts'
import { relaxed } from '../shape/describe.ts'
import type { Mistake } from '../shape/mistake.ts'
import type { Path, Place, Source } from '../shape/place.ts'
import { codeOf } from '../shape/thrown.ts'
import { readYaml } from '../shape/yaml.ts'
import { readOfferings } from './check-catalog.ts'
import { CatalogError, subjectOf } from './problem.ts'
import { readSpringSpelling, type WantedImage } from './spring-spelling.ts'

/** The bytes of a picture that `image-url-resource` names; `undefined` where there is none of that name. */
type ReadImage = (name: string) => Promise<Uint8Array | undefined>

/** Checked offerings, and where each part of them stands in its file. */
export interface LoadedCatalog {
  readonly offerings: readonly Offering[]
  where(path: Path): Place | undefined
}

/** Reads and checks a catalog file. Throws a CatalogError that lists everything wrong with it. */
export async function loadCatalogFile(path: string): Promise<LoadedCatalog> {
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch (error) {
    const problem = `it cannot be read (${codeOf(error)})`
    throw new CatalogError([
      { path: [], place: { source: path }, problem, remedy: 'check the path and its permissions' },
    ])
  }
  return readCatalog(text, path, name => readImageBeside(path, name))
}

/**
 * A catalog from YAML: bare, under `catalog`, or under `spring.cloud.openservicebroker.catalog` in the configuration of a
 * Spring application, of which the rest is ignored. Keys may be camelCase, snake_case or kebab-case.
 */
export async function readCatalog(text: string, file: string, readImage: ReadImage): Promise<LoadedCatalog> {
  const { services, spring } = readSource(text, file)
  const images = readSpringSpelling(services, spring)
  const { offerings, problems, where } = await readOfferings(services, {
    lenient: true,
    unknown: spring ? 'ignore' : 'error',
  })
  const ofImages: Mistake[] = []
  for (const image of images) {
    const { path } = image
    const mistake = await fillImage(image, readImage)
    if (mistake !== undefined)
      ofImages.push({ path, place: where(path), subject: subjectOf(offerings, path), ...mistake })
  }
  if (ofImages.length + problems.length > 0) throw new CatalogError([...ofImages, ...problems])
  // Every field has just been checked to be what the type says.
  return { offerings: offerings as Offering[], where }
}

/** Where a catalog may stand in a document, the most particular place first. */
const places = [
  { keys: ['spring', 'cloud', 'openservicebroker', 'catalog', 'services'], spring: true },
  { keys: ['catalog', 'services'], spring: false },
  { keys: ['services'], spring: false },
] as const

/** Far more than a large catalog has, and few enough that a text full of aliases is refused at once. */
const maxValues = 200_000

/** The services of the first document that has some. Throws a CatalogError where it cannot be read. */
function readSource(text: string, name: string) {
  const source = readAs('1.2', text, name)
  // Spring reads YAML 1.1: `free: yes` is true there.
  return source.spring ? readAs('1.1', text, name) : source
}

function readAs(version: '1.1' | '1.2', text: string, name: string): { services: Source; spring: boolean } {
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

const imageTypes = new Map(
  Object.entries({ '.png': 'png', '.jpg': 'jpeg', '.jpeg': 'jpeg', '.gif': 'gif', '.svg': 'svg+xml', '.webp': 'webp' }),
)

/** What keeps it from being filled in. */
async function fillImage(
  { metadata, name }: WantedImage,
  readImage: ReadImage,
): Promise<Pick<Mistake, 'problem' | 'remedy'> | undefined> {
  if (typeof name !== 'string') return { problem: 'the image resource must be a file name', remedy: 'write it as text' }
  const type = imageTypes.get(extname(name).toLowerCase())
  const known = [...imageTypes.keys()].join(' ')
  if (type === undefined) return { problem: `the image "${name}" is of an unknown type`, remedy: `use one of ${known}` }
  try {
    const bytes = await readImage(name.replace(/^classpath:/, ''))
    if (bytes === undefined) {
      const remedy = `put it beside the file, or into ${imageFolders.slice(1).join(', ')}`
      return { problem: `the image "${name}" does not exist`, remedy }
    }
    metadata.imageUrl = `data:image/${type};base64,${Buffer.from(bytes).toString('base64')}`
    return undefined
  } catch (error) {
    return { problem: `the image "${name}" cannot be read (${codeOf(error)})`, remedy: 'check its permissions' }
  }
}

/** Where Spring applications keep what they serve. */
const imageFolders = ['.', 'static', 'public', 'resources'] as const

async function readImageBeside(file: string, name: string): Promise<Uint8Array | undefined> {
  for (const folder of imageFolders) {
    try {
      return await readFile(join(dirname(file), folder, name))
    } catch (error) {
      if (codeOf(error) !== 'ENOENT' && codeOf(error) !== 'ENOTDIR') throw error
    }
  }
  return undefined
}
