import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { eventTypes, lines } from '../../src/observer/lines.ts'

const root = join(import.meta.dirname, '..', '..')
const source = readFileSync(join(root, 'src', 'events.ts'), 'utf8')

interface Described {
  readonly name: string
  readonly when: string
  /** The shared fields, by the name of their type. */
  readonly shared?: string
  readonly fields: readonly string[]
}

/** Every member of `BrokerEvents`, and every interface of shared fields, as the file has them. */
function readEvents(): readonly Described[] {
  const [, body = ''] = /interface BrokerEvents \{\n(.*?)\n\}/s.exec(source) ?? []
  const member = /^ {2}\/\*\*\s((?:(?!\*\/).)*?) ?\*\/\n {2}'([\w.]+)': (.*?)(?=\n{1,2} {2}\/\*\*)/gms
  return [...`${body}\n  /**`.matchAll(member)].map(([, when = '', name = '', type = '']) => ({
    name,
    when: when.replaceAll(/(^|\n)\s*\*\s/g, ' ').trim(),
    shared: /\w+Fields/.exec(type)?.[0],
    fields: fieldsIn(type),
  }))
}

function readShared(): readonly Described[] {
  return [
    ...source.matchAll(/\/\*\* ([^\n]*?) \*\/\nexport interface (\w+Fields)(?: extends (\w+))? \{\n(.*?)\n\}/gs),
  ].map(([, when = '', name = '', shared, body = '']) => ({ name, when, shared, fields: fieldsIn(body) }))
}

function fieldsIn(type: string): string[] {
  return [...type.matchAll(/readonly (\w+\??):/g)].map(([, name = '']) => name)
}

function toPage(events: readonly Described[], shared: readonly Described[]): string {
  const show = ({ name, when, shared: base, fields }: Described, more: readonly string[] = []) => {
    const shown = [...(base === undefined ? [] : [base]), ...fields.map(field => `\`${field}\``)].join(', ')
    return `| ${[`\`${name}\``, when, shown || 'none', ...more].join(' | ')} |`
  }
  return [
    '# Events',
    '',
    'Everything that a broker tells about itself. An `Observer` is an object with a function for each event that it wants; the',
    'log is one. `combineObservers` makes one of several, `observeAll` listens to everything. What a listener throws harms',
    'nobody. `test/docs/events.test.ts` writes this page from `src/events.ts` (`npx vitest run test/docs/events.test.ts -u`).',
    '',
    '```ts',
    "import { createBroker, defineBroker, type Observer } from 'purser'",
    '',
    'const slow: Observer = {',
    "  'operation.succeeded': ({ action, totalMs }) => console.log(action, totalMs),",
    "  'operation.failed': ({ operationId, reason, error }) => console.error(operationId, reason, error),",
    '}',
    '',
    "export const broker = createBroker(defineBroker({ services: [] }), { store: 'memory:', authenticator: 'none', observer: slow })",
    '```',
    '',
    'Times are milliseconds since 1970; names that end in `Ms` are durations in milliseconds; `error` is what was thrown. A `?`',
    'marks what may be absent. No event holds parameters, state, credentials or a header that may be secret. The last column is',
    'the level of the line in the log.',
    '',
    '| event | when | fields | log |',
    '| --- | --- | --- | --- |',
    ...events.map(event => {
      const [level] = lines[event.name as keyof typeof lines] ?? []
      return show(event, [typeof level === 'function' ? 'depends' : (level ?? 'no line')])
    }),
    '',
    'A line of `request.ended` is `warn` for a 5xx, else `info`; health checks that succeed get none. `author.log` has the level',
    'that the author chose. A chore that had nothing to do gets no line.',
    '',
    '## Shared fields',
    '',
    '| name | what | fields |',
    '| --- | --- | --- |',
    ...shared.map(one => show(one)),
    '',
  ].join('\n')
}

it('the reference of events has every event with its fields', async () => {
  const events = readEvents()
  expect(events.map(({ name }) => name)).toEqual(eventTypes)
  await expect(toPage(events, readShared())).toMatchFileSnapshot(join(root, 'docs', 'reference', 'events.md'))
})

it('the log shows only fields that the event has', () => {
  const shared = new Map(readShared().map(one => [one.name, one]))
  const all = (one: Described): string[] => {
    const base = one.shared === undefined ? undefined : shared.get(one.shared)
    return [...(base === undefined ? [] : all(base)), ...one.fields.map(field => field.replace('?', ''))]
  }
  for (const event of readEvents())
    expect(all(event), event.name).toEqual(expect.arrayContaining(lines[event.name as keyof typeof lines].slice(2)))
})
