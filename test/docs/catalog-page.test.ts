import { join } from 'node:path'
import { expect, it } from 'vitest'
import { offeringShape, planShape } from '../../src/protocol/offering-shape.ts'
import { type Described, describe } from '../../src/shape/describe.ts'
import type { Shape } from '../../src/shape/shape.ts'
import { root } from './pages.ts'

/** Written from `src/protocol/offering-shape.ts`: `npx vitest run test/docs/catalog-page.test.ts -u` after a change there. */
it('docs/reference/catalog.md lists every field of the catalog', async () => {
  const page = [
    '# The catalog',
    'Every field of a service and of a plan, in code, in a catalog file and on the wire. In a file, keys may be camelCase,',
    'snake_case or kebab-case. A platform that announces an older version of the OSB API does not get the fields that are newer.',
    'Made from `src/protocol/offering-shape.ts` by a test.',
    '## Service\n',
    ...tableOf(offeringShape),
    '\n## Plan\n',
    ...tableOf(planShape),
  ]
  const text = `${page.join('\n').replace('catalog\nEvery', 'catalog\n\nEvery').replace('test.\n##', 'test.\n\n##')}\n`
  await expect(text).toMatchFileSnapshot(join(root, 'docs', 'reference', 'catalog.md'))
})

function tableOf(shape: Shape): string[] {
  return [
    '| field | on the wire | since | value | meaning |',
    '|---|---|---|---|---|',
    ...rowsOf(describe(shape), '', ''),
  ]
}

function rowsOf(described: Described, path: string, wirePath: string): string[] {
  return described.wire.flatMap(({ key, name, field }) => {
    const { info, item, isList } = field
    const since = info.since === undefined ? '' : `2.${info.since}`
    const value = isList ? `a list: ${item?.info.rule}` : info.rule
    const row = `| \`${path}${key}\` | \`${wirePath}${name}\` | ${since} | ${value} | ${info.doc ?? ''} |`
    return [row, ...rowsOf(field, `${path}${key}.`, `${wirePath}${name}.`)]
  })
}
