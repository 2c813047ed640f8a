import { readFile } from 'node:fs/promises'
import { dirname, extname, join } from 'node:path'
import type { Offering } from '../protocol/offering.ts'
import { CatalogError, type CatalogProblem, checkCatalog, locate } from './check-catalog.ts'
import type { Path } from './check-fields.ts'
import { type Reading, readOffering, type WantedImage } from './yaml-offering.ts'
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
  where(path: Path): string
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
  if (Array.isArray(source))
    throw new CatalogError(
      source.map(({ place, reason }) => at(place, `it is not valid YAML: ${reason}`, 'correct the text there')),
    )
  if (!Array.isArray(source.services))
    throw new CatalogError([at(source.where([]), '"services" must be a list', 'begin each service with "- id:"')])

  const services: readonly unknown[] = source.services
  const problems: CatalogProblem[] = []
  const images: WantedImage[] = []
  const offerings: unknown[] = []
  const report: Reading['report'] = (path, reason, remedy) =>
    problems.push({ path, location: locate(services, path, source.where), reason, remedy })
  for (const [index, service] of services.entries())
    offerings.push(readOffering(service, [index], { spring: source.spring, report, images }))
  for (const image of images) await fillImage(image, readImage, report)
  problems.push(...(await checkCatalog(offerings, source.where)).problems)
  if (problems.length > 0) throw new CatalogError(problems)
  // Every field has just been checked to be what the type says.
  return { offerings: offerings as Offering[], where: source.where }
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
  report: Reading['report'],
): Promise<void> {
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
