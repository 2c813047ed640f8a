import { environmentNames } from '../src/server/config/overrides.ts'
import { configShape } from '../src/settings/config.ts'
import { describe, type ListedField, listFields } from '../src/shape/describe.ts'

/** The page with its tables made anew: each stands between `<!-- settings: ledger, osb -->` and `<!-- end -->`. */
export function renderSettings(page: string): string {
  const marked = /(<!-- settings: ([\w, ]+) -->\n)[\s\S]*?(<!-- end -->)/g
  return page.replaceAll(marked, (_, begin: string, sections: string, end: string) => {
    return `${begin}\n${renderTable(sections.split(', '))}\n\n${end}`
  })
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
  const all = [['key', 'allowed', 'default', 'meaning', 'environment'], ...rows]
  const lines = all.map(cells => `| ${cells.join(' | ')} |`)
  lines.splice(1, 0, '| --- | --- | --- | --- | --- |')
  return lines.join('\n')
}

function toCells({ path, described: { info, preset } }: ListedField): readonly string[] {
  const key = path.join('.').replaceAll('.[]', '[]')
  const variable = variables.get(key) ?? users.get(key)
  return [
    code(key),
    (info.rule ?? '').replace(/, such as .*$/, '').replaceAll('<', '&lt;'),
    preset === undefined ? '' : code(Array.isArray(preset) ? `[${preset.join(', ')}]` : String(preset)),
    info.doc ?? '',
    variable === undefined ? '' : code(variable),
  ]
}

function code(text: string): string {
  return `\`${text}\``
}
