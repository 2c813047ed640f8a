import { readFile } from 'node:fs/promises'
import { dirname, extname, join } from 'node:path'
import type { Offering } from '../protocol/offering.ts'
import type { Path } from '../shape/place.ts'
import { locate, readOfferings, showPlace } from './check-catalog.ts'
import { CatalogError, type CatalogProblem, type Report } from './problem.ts'
import { readSpringSpelling, type WantedImage } from './spring-spelling.ts'
import { readSource } from './yaml-source.ts'

export interface ParseOptions {
  /** How messages call the text. */
  readonly file: string
  /** The bytes of a picture that `image-url-resource` names; `undefined` where there is none of that name. */
  readImage(name: string): Promise<Uint8Array | undefined>
}

/** Checked offerings, and where each part of them stands in its file. */
export interface LoadedCatalog {
  readonly offerings: readonly Offering[]
  where(path: Path): string | undefined
}

/** Reads and checks a catalog file. Throws a CatalogError that lists everything wrong with it. */
export async function loadCatalogFile(path: string): Promise<LoadedCatalog> {
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch (error) {
    throw new CatalogError([at(path, `it cannot be read (${codeOf(error)})`, 'check the path and its permissions')])
  }
  return readCatalog(text, { file: path, readImage: name => readImageBeside(path, name) })
}

/**
 * A catalog from YAML: bare, under `catalog`, or under `spring.cloud.openservicebroker.catalog` in the configuration of a
 * Spring application, of which the rest is ignored. Keys may be camelCase, snake_case or kebab-case.
 */
export async function parseCatalog(text: string, options: ParseOptions): Promise<readonly Offering[]> {
  return (await readCatalog(text, options)).offerings
}

async function readCatalog(text: string, { file, readImage }: ParseOptions): Promise<LoadedCatalog> {
  const source = readSource(text, file)
  if (source === undefined)
    throw new CatalogError([at(file, 'it has no catalog', 'list the services under "services:" at the top level')])
  if (!('services' in source))
    throw new CatalogError(source.map(({ place, problem, remedy }) => at(showPlace(place) ?? file, problem, remedy)))
  const { services, spring } = source
  if (!Array.isArray(services.root))
    throw new CatalogError([
      at(showPlace(services.place) ?? file, '"services" must be a list', 'begin each service with "- id:"'),
    ])

  const images = readSpringSpelling(services, spring)
  const { offerings, problems, where } = await readOfferings(services, {
    lenient: true,
    unknown: spring ? 'ignore' : 'error',
  })
  const imageProblems: CatalogProblem[] = []
  for (const image of images)
    await fillImage(image, readImage, (path, reason, remedy) =>
      imageProblems.push({ path, location: locate(offerings, path, where(path)), reason, remedy }),
    )
  if (imageProblems.length + problems.length > 0) throw new CatalogError([...imageProblems, ...problems])
  // Every field has just been checked to be what the type says.
  return { offerings: offerings as Offering[], where }
}

const imageTypes: ReadonlyMap<string, string> = new Map([
  ['.png', 'image/png'],
  ['.jpg', 'image/jpeg'],
  ['.jpeg', 'image/jpeg'],
  ['.gif', 'image/gif'],
  ['.svg', 'image/svg+xml'],
  ['.webp', 'image/webp'],
])

async function fillImage(
  { metadata, name, path }: WantedImage,
  readImage: ParseOptions['readImage'],
  report: Report,
): Promise<void> {
  if (typeof name !== 'string') {
    report(path, 'the image resource must be a file name', 'write it as text')
    return
  }
  const type = imageTypes.get(extname(name).toLowerCase())
  if (type === undefined) {
    report(path, `the image "${name}" is of an unknown type`, `use one of ${[...imageTypes.keys()].join(' ')}`)
    return
  }
  try {
    const bytes = await readImage(name.replace(/^classpath:/, ''))
    if (bytes === undefined)
      report(
        path,
        `the image "${name}" does not exist`,
        `put it beside the file, or into ${imageFolders.slice(1).join(', ')}`,
      )
    else metadata.imageUrl = `data:${type};base64,${Buffer.from(bytes).toString('base64')}`
  } catch (error) {
    report(path, `the image "${name}" cannot be read (${codeOf(error)})`, 'check its permissions')
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

function at(location: string, reason: string, remedy: string): CatalogProblem {
  return { path: [], location, reason, remedy }
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown error'
}
