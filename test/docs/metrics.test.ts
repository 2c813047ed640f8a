import { join } from 'node:path'
import { expect, it } from 'vitest'
import { metricsTable } from '../../src/observer/metrics/table.ts'

const file = join(import.meta.dirname, '..', '..', 'docs', 'reference', 'metrics.md')

it('the reference of metrics is that of the table', async () => {
  const rows = Object.entries(metricsTable).map(([name, { help, labels, make }]) => {
    const shown = labels.map(label => `\`${label}\``).join(', ')
    return `| \`${name}\` | ${make().type} | ${shown || 'none'} | ${help} |`
  })
  const page = [
    '# Metrics',
    '',
    'What `GET /metrics` serves, in the text format of Prometheus. [Metrics, traces and logs](../guides/observability.md) says how to',
    'scrape it. `test/docs/metrics.test.ts` writes this page (`npx vitest run test/docs/metrics.test.ts -u`).',
    '',
    '| metric | type | labels | what |',
    '| --- | --- | --- | --- |',
    ...rows,
    '',
    'The label `health` of `purser_instances` says what the ledger knows of an instance: `usable`, or `unusable` after a failure that',
    'broke it, as its author says. Beyond 200 services and 1,000 plans, those with the most instances, `service` and `plan` are `other`.',
    '',
  ].join('\n')
  await expect(page).toMatchFileSnapshot(file)
})
