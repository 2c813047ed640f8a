import { isJsonObject, type JsonObject } from '../protocol/json.ts'
import { isSemanticVersion } from '../shape/fields.ts'
import { quoted } from '../shape/place.ts'
import { readResources, readTimeouts } from './read-limits.ts'
import { readPlans } from './read-plan.ts'
import { asFlag, asText, camelCase, type Fields, type Reading } from './reading.ts'
import type { Item } from './source.ts'
import type { BundleAsync, BundleSpec } from './spec.ts'

const known = [
  'version',
  'name',
  'description',
  'bindable',
  'async',
  'tags',
  'metadata',
  'plans',
  'alpha',
  'bundleVersion',
  'entrypoint',
  'timeouts',
  'resources',
]
/** Older bundles have these; nobody asks for them any more. */
const legacy = ['image', 'id']

/** Undefined where it has no name or no description; what else is wrong is among the problems. */
export function readSpec(item: Item, reading: Reading): BundleSpec | undefined {
  const fields = reading.object(item, 'a spec', [...known, ...legacy])
  if (fields === undefined) return undefined
  checkVersion(item, fields.get('version'), reading)
  warnOfLegacy(fields, reading)
  const name = demand(item, fields, 'name', reading)
  const description = demand(item, fields, 'description', reading)
  if (name !== undefined) warnOfName(fields.get('name') ?? item, name, reading)
  const rest = {
    bindable: reading.flag(fields.get('bindable'), '"bindable"') ?? false,
    async: readAsync(fields.get('async'), reading),
    tags: reading.list(fields.get('tags'), '"tags"').flatMap(tag => reading.text(tag, 'a tag') ?? []),
    metadata: reading.json(fields.get('metadata'), '"metadata"') ?? {},
    plans: readPlans(item, fields.get('plans'), reading),
    alpha: readAlpha(fields.get('alpha'), reading),
    timeouts: readTimeouts(fields.get('timeouts'), reading),
    resources: readResources(fields.get('resources'), reading),
    bundleVersion: readBundleVersion(fields.get('bundleVersion'), reading),
    entrypoint: readEntrypoint(fields.get('entrypoint'), reading),
  }
  return name === undefined || description === undefined ? undefined : { name, description, ...rest }
}

function demand(item: Item, fields: Fields, key: string, reading: Reading): string | undefined {
  const written = fields.get(key)
  return written === undefined
    ? reading.error(item, `the spec has no ${key}; give it one with "${key}"`)
    : reading.text(written, `"${key}"`)
}

/** 1.0 is the only version of the format that there is. */
function checkVersion(spec: Item, item: Item | undefined, reading: Reading): void {
  if (item === undefined) reading.error(spec, 'the spec has no version; write "version: 1.0"')
  else if (!['1', '1.0', '1.0.0'].includes(asText(item) ?? ''))
    reading.error(item, 'the version of the format must be 1.0; for the version of the bundle use "bundle_version"')
}

function warnOfLegacy(fields: Fields, reading: Reading): void {
  for (const key of legacy) {
    const item = fields.get(key)
    if (item !== undefined)
      reading.warn(item, `"${key}" has no effect: it follows from where the bundle was found; take it out`)
  }
}

function warnOfName(item: Item, name: string, reading: Reading): void {
  if (!/^[a-z0-9][a-z0-9._-]*$/.test(name))
    reading.warn(item, `the name ${quoted(name)} is hard to type; use small letters, digits, ".", "_" and "-"`)
}

const asyncWords: readonly BundleAsync[] = ['optional', 'required', 'unsupported']

function readAsync(item: Item | undefined, reading: Reading): BundleAsync {
  if (item === undefined) return 'optional'
  const word = asyncWords.find(candidate => candidate === item.value)
  if (word === undefined) reading.warn(item, `"async" is taken as required; write one of ${asyncWords.join(', ')}`)
  return word ?? 'required'
}

function readAlpha(item: Item | undefined, reading: Reading): BundleSpec['alpha'] {
  const gates: JsonObject = reading.json(item, '"alpha"') ?? {}
  const [spelling] = Object.keys(gates).filter(key => camelCase(key) === 'dashboardRedirect')
  if (item === undefined || spelling === undefined || !isJsonObject(item.value)) return withoutRedirect(gates)
  const dashboardRedirect = asFlag(gates[spelling] ?? null)
  if (dashboardRedirect === undefined)
    reading.error(item, `"${spelling}" must be true or false; write it without quotes`)
  return { ...withoutRedirect(gates), dashboardRedirect }
}

function withoutRedirect(gates: JsonObject): JsonObject & { readonly dashboardRedirect?: never } {
  return Object.fromEntries(Object.entries(gates).filter(([key]) => camelCase(key) !== 'dashboardRedirect'))
}

function readBundleVersion(item: Item | undefined, reading: Reading): string | undefined {
  const version = reading.text(item, '"bundle_version"')
  if (item === undefined || version === undefined) return undefined
  return isSemanticVersion(version)
    ? version
    : reading.error(item, '"bundle_version" must be a semantic version; write three numbers in quotes, such as "1.2.0"')
}

/** A bundle runs what it brings along, and nothing else of the machine. */
function readEntrypoint(item: Item | undefined, reading: Reading): string | undefined {
  const path = reading.text(item, '"entrypoint"')
  if (item === undefined || path === undefined) return undefined
  if (path.startsWith('/') || path.includes('\0') || path.split(/[\\/]/).includes('..'))
    return reading.error(item, '"entrypoint" leads out of the bundle; write a path inside of it, such as bin/run.sh')
  return path
}
