import { expect, it } from 'vitest'
import { readYaml } from './yaml.ts'

const read = (text: string) => readYaml(text, { name: 'a.properties' })

it.each([
  ['a=1', { a: '1' }],
  ['a = b = c ', { a: 'b = c ' }],
  ['a: b', { a: 'b' }],
  ['a b', { a: 'b' }],
  ['a', { a: '' }],
  ['  a.b[0].c=x\r\n# comment=1\r! other\r\n\r\nd=', { 'a.b[0].c': 'x', d: '' }],
  ['a=1\na=2', { a: '2' }],
  ['a=one, \\\n    two\\\n\nb=3', { a: 'one, two', b: '3' }],
  ['a=back\\\\\nb=1', { a: 'back\\', b: '1' }],
  ['a\\ b\\=c=\\u00fc\\t\\:\\q', { 'a b=c': 'ü\t:q' }],
  ['# comment \\\na=1', { a: '1' }],
  ['a=1\\', { a: '1' }],
  ['\uFEFFa=1', { a: '1' }],
  ['', {}],
])('%j', (text, expected) => {
  const { documents, faults } = read(text)
  expect(faults).toEqual([])
  expect(documents.map(({ root }) => root)).toEqual([expected])
})

it('#--- and !--- begin another document', () => {
  const { documents } = read('a=1\n#---\nb=2\n!---\n#----\nc=3')
  expect(documents.map(({ root }) => root)).toEqual([{ a: '1' }, { b: '2' }, { c: '3' }])
})

it('knows its lines', () => {
  const { documents } = read('\n# x\n  a=1\\\n  2\nb=2')
  const [{ root, places } = { root: {}, places: new WeakMap() }] = documents
  expect(Object.fromEntries(places.get(root as object) ?? [])).toMatchObject({
    a: { source: 'a.properties', line: 3, column: 3 },
    b: { line: 5, column: 1 },
  })
})

it('a key called __proto__ is refused', () => {
  expect(read('__proto__=1').faults).toMatchObject([{ problem: 'a key must not be called __proto__' }])
})
