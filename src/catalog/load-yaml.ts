import { readFile } from 'node:fs/promises'
import { dirname, extname, join } from 'node:path'
import type { Offering } from '../protocol/offering.ts'
import type { Mistake } from '../shape/mistake.ts'
import type { Path, Place } from '../shape/place.ts'
import { codeOf } from '../shape/thrown.ts'
import { readOfferings } from './check-catalog.ts'
import { CatalogError, subjectOf } from './problem.ts'
import { readSpringSpelling, type WantedImage } from './spring-spelling.ts'
import { readSource } from './yaml-source.ts'

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
