import { readFile } from 'node:fs/promises'
import { dirname, extname, join } from 'node:path'
import type { Document, Node } from 'yaml'
import type { Offering } from '../protocol/offering.ts'
import { findNode } from '../shape/find-node.ts'
import type { Mistake } from '../shape/mistake.ts'
import type { Path, Place, Source } from '../shape/place.ts'
import type { Environment } from '../shape/placeholders.ts'
import { codeOf } from '../shape/thrown.ts'
import { readYaml } from '../shape/yaml.ts'
import { readOfferings } from './check-catalog.ts'
import { CatalogError, subjectOf } from './problem.ts'
import { readSpringCatalog } from './spring/catalog.ts'
import { readSpringSpelling, type WantedImage } from './spring/spelling.ts'

/** The bytes of a picture that `image-url-resource` names; `undefined` where there is none of that name. */
type ReadImage = (name: string) => Promise<Uint8Array | undefined>

interface ReadCatalogOptions {
  readonly readImage: ReadImage
  readonly env: Environment
}

/** Checked offerings, and where each part of them stands in its file. */
export interface LoadedCatalog {
  readonly offerings: readonly Offering[]
  /** What is passed over, and what some platforms dislike. */
  readonly warnings: readonly Mistake[]
  /** Whether services may have plans with the same id, as Spring allows it. */
  readonly sharedPlanIds: boolean
  where(path: Path): Place | undefined
}

/** Reads and checks a catalog file. Throws a CatalogError that lists everything wrong with it. */
export async function loadCatalogFile(path: string, env: Environment): Promise<LoadedCatalog> {
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch (error) {
    const problem = `it cannot be read (${codeOf(error)})`
    throw new CatalogError([
      { path: [], place: { source: path }, problem, remedy: 'check the path and its permissions' },
    ])
  }
  return readCatalog(text, path, { env, readImage: name => readImageBeside(path, name) })
}

/**
 * A catalog from YAML: bare, under `catalog`, or under `spring.cloud.openservicebroker.catalog` in the configuration of a
 * Spring application, of which the rest is ignored. Keys may be camelCase, snake_case or kebab-case. A `.json` file is taken
 * for what a broker answers to GET /v2/catalog, and a `.properties` file for Spring's.
 */
export async function readCatalog(text: string, file: string, options: ReadCatalogOptions): Promise<LoadedCatalog> {
  const { services, spring, notes } = readSource(text, file, options.env)
  const isWire = extname(file) === '.json'
  const images = isWire ? [] : readSpringSpelling(services, spring)
  const { offerings, problems, warnings, where } = await readOfferings(services, {
    lenient: true,
    textAsValues: spring,
    textAsLists: spring,
    valuesAsText: spring,
    sharedPlanIds: spring,
    wireNames: isWire,
    unknown: key => (spring ? 'ignore' : isWire || key === 'public' ? 'warning' : 'error'),
  })
  const ofImages: Mistake[] = []
  for (const image of images) {
    const { path } = image
    const mistake = await fillImage(image, options.readImage)
    if (mistake !== undefined)
      ofImages.push({ path, place: where(path), subject: subjectOf(offerings, path), ...mistake })
  }
  if (ofImages.length + problems.length > 0) throw new CatalogError([...ofImages, ...problems])
  // Every field has just been checked to be what the type says.
  return { offerings: offerings as Offering[], warnings: [...notes, ...warnings], sharedPlanIds: spring, where }
}

interface FoundCatalog {
  readonly services: Source
  /** Whether it is the configuration of a Spring application. */
  readonly spring: boolean
  readonly notes: readonly Mistake[]
}

/** Far more than a large catalog has, and few enough that a text full of aliases is refused at once. */
const maxValues = 200_000

/** The services of a file. Throws a CatalogError where it cannot be read. */
function readSource(text: string, name: string, env: Environment): FoundCatalog {
  const found = readSpringCatalog(text, { name, env, maxValues }) ?? readPlainCatalog(text, name)
  if (!Array.isArray(found.services.root)) {
    const remedy = 'begin each service with "- id:"'
    throw new CatalogError([{ path: [], place: found.services.place, problem: '"services" must be a list', remedy }])
  }
  return found
}

/** Where a catalog may stand in a document, the most particular place first. */
const places = [['catalog', 'services'], ['services']] as const

/** The services of the first document that has some. */
function readPlainCatalog(text: string, name: string): FoundCatalog {
  let isFound = false
  const pick = (document: Document): Node | undefined => {
    const found = isFound ? undefined : places.map(keys => findNode(document, keys)).find(node => node !== undefined)
    isFound ||= found !== undefined
    return found
  }
  const { documents, faults } = readYaml(text, { name, pick, maxValues })
  const [services] = documents
  if (faults.length > 0) throw new CatalogError(faults)
  if (services !== undefined) return { services, spring: false, notes: [] }
  const remedy = 'list the services under "services:" at the top level'
  throw new CatalogError([{ path: [], place: { source: name }, problem: 'it has no catalog', remedy }])
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
