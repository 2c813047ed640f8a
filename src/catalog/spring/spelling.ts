import { relaxed } from '../../shape/describe.ts'
import { isObject, type Path, type Places, type Source, setPlace } from '../../shape/place.ts'
import { splitList } from '../../shape/read.ts'
import { objectsOf } from '../problem.ts'

type Values = Record<string, unknown>

/** A local picture that is to become the `imageUrl` of `metadata`. */
export interface WantedImage {
  readonly metadata: Values
  /** A file name, unless it is wrong. */
  readonly name: unknown
  readonly path: Path
}

/**
 * Turns what Spring writes in another way into what the shape knows. It changes the services in place, so that each
 * keeps its line; what has the wrong type is left for the shape to judge. Metadata may be spelled like this in any file,
 * the rest only where the file is the configuration of a Spring application.
 */
export function readSpringSpelling({ root, places }: Source, spring: boolean): readonly WantedImage[] {
  const images: (WantedImage | undefined)[] = []
  for (const [index, service] of objectsOf(root)) {
    // Spring takes a service that does not say so for not bindable; the OSB API makes everybody else say it (CAT-18).
    if (spring && find(service, 'bindable') === undefined) service.bindable = false
    images.push(readMetadata(service, offeringMetadata, places, [index, 'metadata']))
    for (const [plan, value] of objectsOf(find(service, 'plans'))) {
      images.push(readMetadata(value, planMetadata, places, [index, 'plans', plan, 'metadata']))
      if (spring) splitBullets(find(value, 'metadata'))
    }
  }
  return images.filter(image => image !== undefined)
}

type Spelling = ReadonlyMap<string, string>
const planMetadata: Spelling = new Map([['display-name', 'displayName']])
const offeringMetadata: Spelling = new Map([
  ...planMetadata,
  ['image-url', 'imageUrl'],
  ['long-description', 'longDescription'],
  ['provider-display-name', 'providerDisplayName'],
  ['documentation-url', 'documentationUrl'],
  ['support-url', 'supportUrl'],
])
const nestedMetadata: ReadonlySet<string> = new Set(['properties', 'additionalproperties'])

/** Metadata is the author's own, except for the keys that Spring spells its way and the two maps that it unfolds. */
function readMetadata(owner: Values, spelling: Spelling, places: Places, path: Path): WantedImage | undefined {
  const metadata = find(owner, 'metadata')
  if (!isObject(metadata)) return undefined
  let image: unknown
  const nested: Values = {}
  for (const [key, item] of Object.entries(metadata)) {
    delete metadata[key]
    if (relaxed(key) === 'imageurlresource') {
      image = item
      movePlace(places, metadata, key, 'imageUrlResource')
    } else if (nestedMetadata.has(relaxed(key)) && isObject(item)) Object.assign(nested, item)
    else metadata[spelling.get(key) ?? key] = item
  }
  Object.assign(metadata, nested)
  if (image === undefined || image === null || metadata.imageUrl !== undefined) return undefined
  return { metadata, name: image, path: [...path, 'imageUrlResource'] }
}

/** Spring knows this one list of a plan's metadata. */
function splitBullets(metadata: unknown): void {
  if (isObject(metadata) && typeof metadata.bullets === 'string') metadata.bullets = splitList(metadata.bullets)
}

function movePlace(places: Places, object: object, from: string, to: string): void {
  const place = places.get(object)?.get(from)
  if (place !== undefined) setPlace(places, object, to, place)
}

function find(object: Values, key: string): unknown {
  return Object.entries(object).find(([written]) => relaxed(written) === key)?.[1]
}
