import { registryTypes } from '../src/registry/types.ts'
import { environmentNames } from '../src/server/config/overrides.ts'
import { configShape } from '../src/settings/config.ts'
import { brokerSections, serverFields } from '../src/settings/settings.ts'
import { type Described, describe, type ListedField, listFields } from '../src/shape/describe.ts'

/** The page with its tables made anew: each stands between `<!-- settings: ledger, osb -->` and `<!-- end -->`. */
export function renderSettings(page: string): string {
  const marked = /(<!-- settings: ([\w, ]+) -->\n)[\s\S]*?(<!-- end -->)/g
  const ofCode = /(<!-- settings of createBroker -->\n)[\s\S]*?(<!-- end -->)/
  return page
    .replaceAll(marked, (_, begin: string, sections: string, end: string) => {
      return `${begin}\n${renderTable(sections.split(', '))}\n\n${end}`
    })
    .replace(ofCode, (_, begin: string, end: string) => `${begin}\n${renderNames(namesInCode)}\n\n${end}`)
}

/** What `createBroker` takes, as `purser serve` does: whole sections, and some settings of `server`. */
const namesInCode = [...Object.keys(brokerSections), ...Object.keys(serverFields).map(key => `server.${key}`)]

function renderNames(names: readonly string[]): string {
  return `${names.map(code).join(', ')}.`
}

/** The page of the registries with the table between `<!-- registry settings -->` and `<!-- end -->` made anew. */
export function renderRegistrySettings(page: string): string {
  const fields = registryTypes.flatMap(({ name: type, shape }) => describe(shape).wire.map(wire => ({ type, ...wire })))
  const rows = [...new Set(fields.map(({ name }) => name))].map(name => {
    const same = fields.filter(field => field.name === name)
    const presets = same.map(({ type, field: { preset } }) => ({ type, preset: showPreset(preset) }))
    const common = presets.every(({ preset }) => preset === presets[0]?.preset)
    const special = presets
      .filter(({ preset }) => preset !== '')
      .map(({ type, preset }) => `${preset} for ${code(type)}`)
    return [
      code(name),
      showRule(same[0]?.field),
      common ? (presets[0]?.preset ?? '') : special.join(', '),
      same.length === registryTypes.length ? 'all' : same.map(({ type }) => code(type)).join(', '),
      same[0]?.field.info.doc ?? '',
    ]
  })
  const table = toTable([['key', 'allowed', 'default', 'types', 'meaning'], ...rows])
  return page.replace(/(<!-- registry settings -->\n)[\s\S]*?(<!-- end -->)/, (_, begin: string, end: string) =>
    [begin, table, '', end].join('\n'),
  )
}

/** The sections that the page has a table for. */
export function listedSections(page: string): readonly string[] {
  return [...page.matchAll(/<!-- settings: ([\w, ]+) -->/g)].flatMap(([, sections = '']) => sections.split(', '))
}

export function allSections(): readonly string[] {
  return [...(describe(configShape).fields?.keys() ?? [])]
}

const users = new Map([
  ['auth.basic[].username', 'PURSER_USERNAME'],
  ['auth.basic[].password', 'PURSER_PASSWORD'],
])
const variables = new Map(environmentNames().map(([name, path]) => [path.join('.'), name]))

function renderTable(sections: readonly string[]): string {
  const rows = listFields(configShape)
    .filter(({ path: [section = ''] }) => sections.includes(section))
    .map(toCells)
  return toTable([['key', 'allowed', 'default', 'meaning', 'environment'], ...rows])
}

function toTable(rows: readonly (readonly string[])[]): string {
  const lines = rows.map(cells => `| ${cells.join(' | ')} |`)
  lines.splice(1, 0, '| --- | --- | --- | --- | --- |')
  return lines.join('\n')
}

function toCells({ path, described }: ListedField): readonly string[] {
  const key = path.join('.').replaceAll('.[]', '[]')
  const variable = variables.get(key) ?? users.get(key)
  return [
    code(key),
    showRule(described),
    showPreset(described.preset),
    described.info.doc ?? '',
    variable === undefined ? '' : code(variable),
  ]
}

function showRule(described: Described | undefined): string {
  return (described?.info.rule ?? '').replace(/, such as .*$/, '').replaceAll('<', '&lt;')
}

function showPreset(preset: unknown): string {
  if (Array.isArray(preset)) return code(`[${preset.join(', ')}]`)
  return preset === undefined || typeof preset === 'object' ? '' : code(String(preset))
}

function code(text: string): string {
  return `\`${text}\``
}
