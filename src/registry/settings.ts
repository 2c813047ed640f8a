import { anything, asText, flag, oneOf, secretText, text, type WrittenValue, written } from '../shape/fields.ts'
import { type Path, quoted } from '../shape/place.ts'
import {
  convert,
  fallback,
  field,
  list,
  map,
  object,
  optional,
  type Read,
  type Rule,
  type Shape,
  section,
} from '../shape/shape.ts'
import { findProblem, letsNothingPass } from './filter.ts'

const pattern = field<string | null, string>({ kind: 'text', rule: 'a regular expression' }, entry => {
  if (entry === null) return ''
  return typeof entry === 'string' ? entry : undefined
})

const areExpressions: Rule<readonly (string | undefined)[]> = entries =>
  entries.flatMap((entry = '', index) => {
    const problem = findProblem(entry)
    return problem === undefined ? [] : [{ path: [index], error: `it ${problem}` }]
  })

const patterns = fallback(
  list(pattern, { rule: 'a list of regular expressions', rules: [areExpressions], doc: 'see [lists](#lists)' }),
  [],
)
const credential = optional(secretText({ doc: 'see [credentials](#credentials)' }))

/** As `URL.hostname` has it. */
function isHost(written: string): boolean {
  return URL.canParse(`http://${written}`) && new URL(`http://${written}`).hostname === written
}

const hosts = (doc: string) =>
  fallback(
    list(text({ rule: 'the name or the address of a host, as in a URL, without a port', allows: isHost }), {
      rule: 'a list of hosts',
      doc,
    }),
    [],
  )

const common = {
  name: text({
    rule: 'small letters, digits, and "-" and "." inside',
    allows: name =>
      name.length <= 253 && /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/.test(name),
    doc: "required, once each; part of every service's name",
  }),
  type: fallback(text({ rule: 'see [types](#types)', doc: 'how it is asked' }), 'directory'),
  whiteList: patterns,
  blackList: patterns,
  failOnError: fallback(
    flag('a sync in which this registry fails counts as failed; what the others answered is taken all the same'),
    false,
  ),
  skipVerifyTls: fallback(flag('takes any certificate: for experiments'), false),
  ca: optional(
    text({
      kind: 'folder',
      rule: 'a path, or certificates in PEM',
      doc: 'trusted for this registry beside the usual authorities',
    }),
  ),
  privateHosts: hosts('where else in private networks it may lead; see [other servers](#other-servers)'),
  user: credential,
  pass: credential,
  token: credential,
  authType: optional(
    oneOf(
      ['config', 'file', 'secret'],
      'where credentials come from; without it from `user`, `pass` and `token`, if they are there',
    ),
  ),
  authName: optional(text({ kind: 'folder', rule: 'a path, or the name of a secret', doc: 'which file or secret' })),
  namespaces: optional(anything('a list', { doc: 'has no effect: it was for a type that is not read' })),
}

const anyRegistry = object(common)

/** One entry of the registry section, checked, as far as it is the same for all types. */
export type RegistrySettings = Read<typeof anyRegistry>

type Fields = Parameters<typeof object>[0]

/** What rules look at; what is absent or wrong is undefined. */
type Draft<Own extends Fields = { url: typeof urlField }> = Partial<
  RegistrySettings & Read<ReturnType<typeof object<Own>>>
>

/** The settings of a type of registry: its own beside the common ones. */
export function registryShape<const Own extends Fields>(own: Own, rules: readonly Rule<Draft<Own>>[] = []) {
  const all = [...rules, needsWhiteList, needsScheme, needsCredentials, needsAuthName]
  return object({ ...common, ...own }, { rule: 'a map of settings', rules: all as never })
}

const needsWhiteList: Rule<Draft> = ({ whiteList }) =>
  whiteList !== undefined &&
  letsNothingPass(whiteList) && {
    severity: 'warning',
    error: 'needs a white_list, else nothing of it is offered; for all that it has write white_list: [".*"]',
  }

const needsScheme: Rule<Draft> = ({ url }) =>
  url !== undefined &&
  withScheme(url) !== url && {
    severity: 'warning',
    path: ['url'],
    error: `it has no scheme and is taken as "${new URL(withScheme(url)).origin}"; write https:// or http://`,
  }

const needsCredentials: Rule<Draft> = ({ authType, user, pass, token }) =>
  authType === 'config' &&
  token === undefined &&
  (user === undefined || pass === undefined) && {
    error: 'needs credentials, since auth_type is config; add user and pass, or token',
  }

const needsAuthName: Rule<Draft> = ({ authType, authName }) =>
  (authType === 'file' || authType === 'secret') &&
  authName === undefined && { error: `needs auth_name, since auth_type is ${authType}; add it` }

/** For types that are read without credentials. */
export const needsNoCredentials: Rule<Partial<RegistrySettings>> = ({ user, token, authType }) =>
  (user ?? token ?? authType) !== undefined && {
    severity: 'warning',
    error: 'needs no user, pass, token or auth_type: it is read without credentials; take them out',
  }

export const urlField = text({
  rule: 'an http or https URL without a user in it (user and pass are keys of their own), such as https://host/path',
  allows: isUrl,
  // Without a scheme, a user may stand at the very beginning.
  show: written => written.replace(/^(.*:\/\/)?.*@/s, '$1[hidden]@'),
  doc: 'where it is; without a scheme it is taken as `http://`, with a warning',
})

function isUrl(written: string): boolean {
  if (!URL.canParse(withScheme(written))) return false
  const { protocol, username, password } = new URL(withScheme(written))
  return ['http:', 'https:'].includes(protocol) && username === '' && password === ''
}

export function withScheme(written: string): string {
  return /^[a-z][a-z0-9+.-]*:\/\//i.test(written) ? written : `http://${written}`
}

export const orgField = text({ rule: 'the name of an organisation', doc: 'whose repositories are read' })

const isTag = /^\w[\w.-]{0,127}$/
const tagRule = 'a tag: letters, digits, "_", "." and "-", 128 at most'
const tag = text({ rule: tagRule, allows: isTag })

/** One tag in the place of the usual one; or a list, of which each becomes a service of its own. */
const tags: Shape<unknown, string | readonly string[]> = convert(
  written({ noun: 'a tag, or a list of tags' }),
  (given, notes): string | readonly string[] => {
    const read = (one: WrittenValue, ...path: Path): string => {
      const found = asText(one) ?? ''
      if (!isTag.test(found)) notes.error(`needs ${tagRule}, not ${quoted(found)}`, ...path)
      return found
    }
    if (given.items === undefined) return read(given)
    if (given.items.length === 0) notes.error('needs a tag; name one, or take the image out')
    return [...new Set(given.items.map((item, index) => read(item, index)))]
  },
)

/** For types that ask others for tokens. */
export const tokenHostsField = hosts('who may get its credentials beside itself; see [other servers](#other-servers)')

/** For types that look at images. */
export const imageFields = {
  tag: section(
    { default: fallback(tag, 'latest'), named: fallback(map(tags), {}) },
    { rule: 'a tag, or a map with default and named', doc: '`latest` unless it is given; see [tags](#tags)' },
  ),
  images: fallback(
    list(text({ rule: 'the name of an image' }), {
      rule: 'a list of names',
      doc: 'images that are read even if the registry does not list them; they have to pass the lists too',
    }),
    [],
  ),
}

export type TagChoice = Read<(typeof imageFields)['tag']>

/** The tag of an image's full name; `latest` where it has none, as everywhere. */
export function imageTag(image: string): string {
  const [name = ''] = image.split('@')
  return /:([\w.-]+)$/.exec(name)?.[1] ?? 'latest'
}

/** Whether `ca` is the text of certificates; a path otherwise. */
export function isCertificate(ca: string): boolean {
  return ca.includes('-----BEGIN')
}
