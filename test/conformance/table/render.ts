import type { Scenario } from './scan.ts'
import type { Requirement, Sources } from './sources.ts'

/** What became of a requirement's tests: all of them passed, or not. */
export type Verdict = 'pass' | 'fail'

const levels = ['MUST', 'MUST NOT', 'SHOULD', 'SHOULD NOT', 'MAY', 'impl']
const kinds = ['pass', 'fail', 'missing', 'exception'] as const

/** The whole page. The same sources and verdicts always make the same text. */
export function renderTable(sources: Sources, verdicts: ReadonlyMap<string, Verdict>): string {
  const results = sources.requirements.map(({ id }) => resultOf(id, sources, verdicts.get(id) ?? 'fail'))
  return `${intro}
${counts(sources.requirements, results)}

${rows(sources, results).join('\n')}
`
}

/** The page's rows without what only a run can tell (`pass` and `fail` become one word), and without a formatter's blanks. */
export function comparableRows(page: string): readonly string[] {
  return page
    .split('\n')
    .map(line => line.replace(/\s+/g, ' '))
    .filter(line => /^\| [A-Z]+-\d/.test(line))
    .map(line => line.replace(/ \| (?:pass|fail) \|$/, ' | tested |'))
}

const intro = `# Conformance with the OSB API 2.17

Every requirement that version 2.17 of the Open Service Broker API puts on a broker, and the tests that show it. A test
carries the id of its requirement in its name and runs twice: in process, and over a socket. Level \`impl\` marks what the
specification implies without one of its key words.

This page is made by \`npm run conformance:table\`, which runs the tests; do not edit it. \`test/conformance/coverage.test.ts\`
fails when a requirement has neither a test nor an exception with its reason, and when this page is out of date.
`

function resultOf(id: string, { exceptions, scenarios }: Sources, verdict: Verdict): string {
  const reason = exceptions.get(id)
  if (reason !== undefined) return `exception: ${reason}`
  return scenarios.some(({ ids }) => ids.includes(id)) ? verdict : 'missing'
}

function counts(requirements: readonly Requirement[], results: readonly string[]): string {
  const count = (level: string | undefined, kind: string) =>
    requirements.filter((one, index) => (level ?? one.level) === one.level && results[index]?.startsWith(kind)).length
  const line = (name: string, level?: string) => row([name, ...['', ...kinds].map(kind => String(count(level, kind)))])
  const found = levels.filter(level => requirements.some(one => one.level === level))
  const head = [row(['level', 'requirements', ...kinds]), '|---|--:|--:|--:|--:|--:|']
  return [...head, ...found.map(level => line(level, level)), line('all')].join('\n')
}

function rows({ requirements, scenarios }: Sources, results: readonly string[]): readonly string[] {
  return [
    row(['id', 'level', 'requirement', 'test', 'result']),
    '|---|---|---|---|---|',
    ...requirements.map(({ id, level, text }, index) =>
      row([id, level, text, testsOf(id, scenarios), results[index] ?? '']),
    ),
  ]
}

function testsOf(id: string, scenarios: readonly Scenario[]): string {
  const [first, ...more] = scenarios.filter(({ ids }) => ids.includes(id))
  if (first === undefined) return ''
  return `${first.title}${more.length === 0 ? '' : ` (and ${more.length} more)`}`
}

function row(cells: readonly string[]): string {
  return `| ${cells.map(toCell).join(' | ')} |`
}

/** One line of Markdown that shows the text as it is. Inside of backticks only a bar has a meaning of its own. */
function toCell(text: string): string {
  const parts = text.replace(/\s+/g, ' ').replaceAll('|', '\\|').split('`')
  return parts.map((part, index) => (index % 2 === 0 ? part.replaceAll('<', '\\<') : part)).join('`')
}
