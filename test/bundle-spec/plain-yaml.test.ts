/** What the fast reader takes, it reads as the YAML parser does; what it does not take, it leaves to the parser. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { stringify } from 'yaml'
import type { Source } from '../../src/shape/place.ts'
import { readPlainYaml } from '../../src/shape/plain-yaml.ts'
import { readYaml } from '../../src/shape/yaml.ts'

/** Values and where they were written. */
function described({ root, place, places }: Source): unknown {
  const walk = (value: unknown): unknown => {
    if (typeof value !== 'object' || value === null) return value
    return Object.entries(value).map(([key, child]) => {
      const at = places.get(value)?.get(Array.isArray(value) ? Number(key) : key)
      return [key, at?.line, at?.column, at?.text, at?.tag, walk(child)]
    })
  }
  return [place?.line, place?.column, walk(root)]
}

/** Whether it was taken. */
function compare(text: string): boolean {
  const fast = readPlainYaml(text, 'x.yml')
  if (fast === undefined) return false
  const { documents, faults } = readYaml(text, { name: 'x.yml', maxValues: 100_000 })
  expect([text, faults]).toEqual([text, []])
  expect(documents).toHaveLength(1)
  const [slow] = documents
  expect([text, described(fast)]).toEqual([text, slow && described(slow)])
  return true
}

const scalar = fc.oneof(
  fc.constantFrom(
    'true',
    'No',
    'null',
    '~',
    '1.10',
    '1e3',
    '0x1f',
    '0o7',
    '-5',
    '+5',
    '.5',
    '5.',
    '1.2.3',
    '1_000',
    '2020-01-01',
  ),
  fc.constantFrom('[]', '{}', "['a', b c, 1.10]", '[a, true,"x" ] # c', '[a,]', '[a', '[[a]]'),
  fc.constantFrom(
    'a b',
    'it: is',
    'a #b',
    'a#b',
    '- x',
    '-x',
    '*alias',
    '&a',
    '!tag',
    '[a]',
    '{a}',
    "'",
    '"',
    'x:',
    '@a',
    '%a',
    '',
    ' a ',
  ),
  fc.constantFrom(
    '.inf',
    '-',
    '?',
    '? x',
    '|',
    '>',
    '<<',
    'http://x:80/y',
    '$(x)',
    '^[a-z]+$',
    '\\A',
    'é',
    '=',
    '.',
    '..',
    '...',
    '---',
  ),
  fc.string({ maxLength: 8 }),
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.boolean(),
  fc.constant(null),
)
const key = fc.oneof(
  fc.constantFrom('name', 'max_length', 'a.b-c', 'x y', '1', 'true', '<<', '__proto__', 'null'),
  fc.string({ maxLength: 4 }),
)
const { value } = fc.letrec(tie => ({
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    scalar,
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(key, tie('value'), { maxKeys: 4 }),
  ),
}))

it('reads as the parser does, whatever is written', () => {
  let taken = 0
  fc.assert(
    fc.property(
      value,
      fc.boolean(),
      fc.array(fc.tuple(fc.nat(), fc.constantFrom(...'\n -:#\'"[{&*!|>?a1.,~%')), { maxLength: 2 }),
      (written, indentSeq, edits) => {
        let text = stringify(written, { indentSeq, lineWidth: 0 })
        for (const [at, sign] of edits) {
          const place = at % (text.length + 1)
          text = `${text.slice(0, place)}${sign}${text.slice(place)}`
        }
        if (compare(text)) taken++
      },
    ),
    { numRuns: 3000 },
  )
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.nat(3), fc.constantFrom('- ', 'k: ', 'k2: ', '- k: ', ''), scalar), { maxLength: 6 }),
      lines => {
        if (compare(lines.map(([indent, head, rest]) => `${' '.repeat(indent)}${head}${rest}\n`).join(''))) taken++
      },
    ),
    { numRuns: 3000 },
  )
  expect(taken).toBeGreaterThan(100)
})

it.each([
  ['a: x\n', true],
  ['---\n# c\na:\n- b: 1 # c\n  c: "x: y"\n- d\ne: \'f\' # g\n', true],
  ['a:\n  b:\n', true],
  ['- - a\n  - b\n- c\n', true],
  ['a: b\n c\n', false],
  ['a: |\n  b\n', false],
  ['a: &x b\n', false],
  ['a: b\na: c\n', false],
  ['a: [b]\n', true],
  ["a: []\nb: {}\nc:\n- [x, 'y'] # z\n", true],
  ['a: [b: c]\n', false],
  ['a: [b]]\n', false],
  ['a: [b,\n  c]\n', false],
  ['a: b\n--- \nc: d\n', false],
  ['a: b\n...\n', false],
  ['  a: b\n c: d\n', false],
  ['a:\n  b: c\n d: e\n', false],
  ['a:\n-\n', false],
  ['a:\tb\n', false],
  ['a: b\r\n', false],
  ['%YAML 1.2\n---\na: b\n', false],
  ['word\n', false],
  ['', false],
])('%j: taken is %s', (text, taken) => {
  expect(compare(text)).toBe(taken)
})

it.each([
  'bundles/redis/bundle.yml',
  'bundles/postgres/bundle.yml',
  'bundles/ansible-redis/apb.yml',
  'templates/bundle/bundle.yml',
])('reads %s as the parser does', file => {
  compare(readFileSync(join(import.meta.dirname, '..', '..', file), 'utf8'))
})
