import { resolve } from 'node:path'
import { camelCase, type Fields, openReading, type Reading, type SpecProblem } from '../bundle/reading.ts'
import type { Item } from '../bundle/source.ts'
import { type Places, quoted } from '../shape/place.ts'
import { findProblem, letsNothingPass } from './filter.ts'
import { readAuth, readTag, readUrl } from './read-settings.ts'
import { isCertificate, type RegistrySettings, type RegistryType, registryTypes } from './settings.ts'

export interface ParsedRegistries {
  /** Present where no problem is an error. */
  readonly settings?: readonly RegistrySettings[]
  readonly problems: readonly SpecProblem[]
}

/**
 * The registry section of a configuration, also as the Automation Broker has it: snake_case or camelCase, and its names of
 * types. All problems are found at once; none of them shows a value that may be secret. `where` is what they call the
 * section, and `places` where its values stand in the file. Relative paths start from `folder`.
 */
export function parseRegistrySettings(
  raw: unknown,
  where: string,
  { folder = '.', places }: { readonly folder?: string; readonly places?: Places } = {},
): ParsedRegistries {
  const { reading, root } = openReading(raw ?? [], where, places)
  const names = new Set<string>()
  const settings = reading.list(root, 'the registry section').flatMap(item => {
    const fields = reading.object(item, 'a registry', registryKeys)
    const entry = fields === undefined ? undefined : readRegistry(item, fields, reading, folder)
    const name = fields?.get('name')
    if (typeof name?.value !== 'string') return entry ?? []
    // Names are the only thing that keeps the services of two registries apart.
    if (names.has(name.value)) reading.error(name, `the name ${quoted(name.value)} is used twice; rename one of them`)
    names.add(name.value)
    return entry ?? []
  })
  const { problems } = reading
  return problems.some(({ severity }) => severity === 'error') ? { problems } : { settings, problems }
}

export const registryKeys = [
  'name',
  'type',
  'path',
  'url',
  'org',
  'tag',
  'images',
  'namespaces',
  'runner',
  'whiteList',
  'blackList',
  'failOnError',
  'skipVerifyTls',
  'ca',
  'user',
  'pass',
  'token',
  'authType',
  'authName',
]

/** What the Automation Broker calls registries that are all asked the same way today. */
export const registryAliases: Readonly<Record<string, RegistryType>> = {
  apiv2: 'oci',
  openshift: 'oci',
  partner_rhcc: 'oci',
  rhcc: 'oci',
  registry_proxy: 'oci',
}

function readRegistry(item: Item, fields: Fields, reading: Reading, folder: string): RegistrySettings | undefined {
  const text = (key: string) => {
    const found = fields.get(key)
    return found?.value === '' ? undefined : reading.text(found, quoted(key))
  }
  const name = readName(item, fields, reading)
  const written = text('type') ?? 'directory'
  const type =
    registryTypes.find(one => one === written) ??
    (Object.hasOwn(registryAliases, written) ? registryAliases[written] : undefined)
  if (type === undefined) {
    const all = [...registryTypes, ...Object.keys(registryAliases)].join(', ')
    return reading.error(fields.get('type') ?? item, `the type ${quoted(written)} is not known; use one of ${all}`)
  }
  const [path, org, runner, ca] = [text('path'), text('org'), text('runner'), text('ca')]
  const images = readTexts(fields, 'images', reading)
  const lists = { whiteList: readList(fields, 'whiteList', reading), blackList: readList(fields, 'blackList', reading) }
  if (letsNothingPass(lists))
    reading.warn(
      item,
      'it has no white_list, so nothing of it is offered; for all that it has write white_list: [".*"]',
    )
  const imagesOnly = written === 'registry_proxy'
  const demand = (key: string, value: unknown) => {
    if (value === undefined) reading.error(item, `a registry of type ${written} has no ${key}; add it`)
  }
  const url = type === 'directory' || type === 'dockerhub' ? undefined : readUrl(fields.get('url'), type, reading)
  if (type === 'directory') demand('path', path)
  if ((type === 'oci' || type === 'helm' || type === 'http') && !fields.has('url')) demand('url', undefined)
  if (type === 'dockerhub' && images.length === 0) demand('org', org)
  if (type === 'quay') demand('org', org)
  if (type === 'helm') demand('runner', runner)
  if (imagesOnly && images.length === 0) demand('images', undefined)
  const auth = readAuth(item, fields, reading, folder)
  if (auth.kind !== 'none' && (type === 'directory' || type === 'helm'))
    reading.warn(item, `a registry of type ${type} is read without credentials; take them out`)
  const rest = {
    type,
    tag: readTag(fields.get('tag'), reading),
    images,
    imagesOnly,
    ...lists,
    failOnError: reading.flag(fields.get('failOnError'), '"fail_on_error"') ?? false,
    skipVerifyTls: reading.flag(fields.get('skipVerifyTls'), '"skip_verify_tls"') ?? false,
    auth,
    path: path && resolve(folder, path),
    url,
    org,
    runner,
    ca: ca === undefined || isCertificate(ca) ? ca : resolve(folder, ca),
  }
  return name === undefined ? undefined : { name, ...rest }
}

function readName(item: Item, fields: Fields, reading: Reading): string | undefined {
  const found = fields.get('name')
  if (found === undefined) return reading.error(item, 'a registry has no name; give it one with "name"')
  const name = reading.text(found, '"name"')
  if (
    name === undefined ||
    (name.length <= 253 && /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/.test(name))
  )
    return name
  return reading.error(found, `the name ${quoted(name)} is not allowed; use small letters, digits, "-" and "." inside`)
}

function readTexts(fields: Fields, key: string, reading: Reading): readonly string[] {
  return reading
    .list(fields.get(key), quoted(key))
    .flatMap(entry => reading.text(entry, `an entry of ${quoted(key)}`) ?? [])
}

/** A list with a mistake in it lets pass what nobody meant: that is no matter for a warning. */
function readList(fields: Fields, key: 'whiteList' | 'blackList', reading: Reading): readonly string[] {
  const shown = key === 'whiteList' ? 'white_list' : 'black_list'
  return reading.list(fields.get(camelCase(shown)), `"${shown}"`).flatMap(entry => {
    if (entry.value === '' || entry.value === null) return []
    const text = reading.text(entry, `an entry of "${shown}"`)
    const problem = text === undefined ? undefined : findProblem(text)
    if (text === undefined) return []
    if (problem !== undefined) reading.error(entry, `the entry ${quoted(text)} of ${shown} ${problem}`)
    return [text]
  })
}
