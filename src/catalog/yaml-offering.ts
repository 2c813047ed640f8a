import { isJsonObject } from '../protocol/json.ts'
import type { Path, Report } from './check-fields.ts'
import { relaxed } from './yaml-source.ts'

/** A local picture that is to become the `imageUrl` of `metadata`. */
export interface WantedImage {
  readonly metadata: Record<string, unknown>
  readonly name: string
  readonly path: Path
}

export interface Reading {
  readonly spring: boolean
  readonly report: Report
  readonly images: WantedImage[]
}

type Values = Record<string, unknown>
type Reader = (value: unknown, path: Path, reading: Reading) => unknown

/**
 * An offering in the code's spelling, made from any spelling of its keys. Only keys are read here: what has the wrong type
 * is passed on as it is, for `checkCatalog` to judge.
 */
export function readOffering(value: unknown, path: Path, reading: Reading): unknown {
  const offering = offeringReader(value, path, reading)
  // Spring takes a service that does not say so for not bindable; the OSB API makes everybody else say it (CAT-18).
  return reading.spring && isJsonObject(offering) ? { bindable: false, ...offering } : offering
}

const asIs: Reader = value => value

const content: Reader = (value, _, { spring }) => (spring ? unwrapKeys(value) : value)

const methodReader = fields({ parameters: content })

const planReader = fields({
  id: asIs,
  name: asIs,
  description: asIs,
  metadata: (value, path, reading) => readMetadata(value, planMetadata, path, reading),
  free: asIs,
  bindable: asIs,
  bindingRotatable: asIs,
  planUpdateable: asIs,
  schemas: fields({
    serviceInstance: fields({ create: methodReader, update: methodReader }),
    serviceBinding: fields({ create: methodReader }),
  }),
  maximumPollingDuration: asIs,
  maintenanceInfo: fields({ version: asIs, description: asIs }),
})

const offeringReader = fields({
  id: asIs,
  name: asIs,
  description: asIs,
  bindable: asIs,
  tags: asIs,
  requires: asIs,
  instancesRetrievable: asIs,
  bindingsRetrievable: asIs,
  allowContextUpdates: asIs,
  metadata: (value, path, reading) => readMetadata(value, offeringMetadata, path, reading),
  dashboardClient: fields({ id: asIs, secret: asIs, redirectUri: asIs }),
  planUpdateable: asIs,
  plans: (value, path, reading) =>
    Array.isArray(value) ? value.map((plan, index) => planReader(plan, [...path, index], reading)) : value,
})

/** Reads the keys of one object. A key without a value counts as absent. */
function fields(readers: Readonly<Record<string, Reader>>): Reader {
  const spelling = new Map(Object.keys(readers).map(key => [relaxed(key), key]))
  return (value, path, reading) => {
    if (!isJsonObject(value)) return value
    const result: Values = {}
    for (const [written, item] of Object.entries(reading.spring ? joinIndexedKeys(value) : value)) {
      const key = spelling.get(relaxed(written))
      const reader = key === undefined ? undefined : readers[key]
      if (key === undefined || reader === undefined) {
        if (!reading.spring)
          reading.report(
            [...path, written],
            `"${written}" is not a known field`,
            `known are ${[...spelling.values()].join(', ')}`,
          )
      } else if (Object.hasOwn(result, key)) {
        reading.report([...path, written], `"${key}" is given twice, in two spellings`, 'remove one of them')
      } else if (item !== null) result[key] = reader(item, [...path, key], reading)
    }
    return result
  }
}

const planMetadata: ReadonlyMap<string, string> = new Map([['display-name', 'displayName']])
const offeringMetadata: ReadonlyMap<string, string> = new Map([
  ...planMetadata,
  ['image-url', 'imageUrl'],
  ['long-description', 'longDescription'],
  ['provider-display-name', 'providerDisplayName'],
  ['documentation-url', 'documentationUrl'],
  ['support-url', 'supportUrl'],
])
const nestedMetadata: ReadonlySet<string> = new Set(['properties', 'additionalproperties'])

/** Metadata is the author's own, save for the keys that Spring spells its way and the two maps that it unfolds. */
function readMetadata(value: unknown, spelling: ReadonlyMap<string, string>, path: Path, reading: Reading): unknown {
  if (!isJsonObject(value)) return value
  const metadata: [string, unknown][] = []
  const further: [string, unknown][] = []
  let image: unknown
  for (const [key, item] of Object.entries(value)) {
    if (relaxed(key) === 'imageurlresource') image = item
    else if (nestedMetadata.has(relaxed(key)) && isJsonObject(item)) further.push(...Object.entries(item))
    else metadata.push([spelling.get(key) ?? key, item])
  }
  // From entries: an assignment would let a key named __proto__ do something else than be a key.
  const result: Values = Object.fromEntries(
    [...metadata, ...further].map(([key, item]) => [key, content(item, path, reading)]),
  )
  if (image !== undefined && image !== null && result.imageUrl === undefined) {
    const at = [...path, 'imageUrlResource']
    if (typeof image === 'string') reading.images.push({ metadata: result, name: image, path: at })
    else reading.report(at, 'the image resource must be a file name', 'write it as text')
  }
  return result
}

/** Spring needs brackets to keep the special characters of a key: `"[$schema]": …`. */
function unwrapKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(unwrapKeys)
  if (!isJsonObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [/^\[(.+)\]$/.exec(key)?.[1] ?? key, unwrapKeys(item)]),
  )
}

/** Spring also takes one entry of a map as a key of its own beside it: `parameters[$schema]: …`. */
function joinIndexedKeys(value: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const plain = Object.entries(value).filter(([key]) => !indexedKey.test(key))
  if (plain.length === Object.keys(value).length) return value
  const result: Values = Object.fromEntries(plain)
  for (const [written, item] of Object.entries(value)) {
    const [, key, index] = indexedKey.exec(written) ?? []
    if (key === undefined || index === undefined) continue
    const map = result[key] ?? {}
    if (isJsonObject(map)) result[key] = { ...map, ...Object.fromEntries([[index, item]]) }
  }
  return result
}

const indexedKey = /^([^[\]]+)\[([^[\]]+)\]$/
