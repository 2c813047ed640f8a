import { describe, expect, it } from 'vitest'
import { scanScenarios } from './scan.ts'

const scan = (source: string) => scanScenarios('a.test.ts', source)
const hole = (inner: string) => `\${${inner}}`

describe('the scan for requirements', () => {
  it('reads one id and several', () => {
    expect(scan("\nrequirement('A-1', 'one', run)\nrequirement(['A-2', 'A-3',], `two`, run)")).toEqual([
      { ids: ['A-1'], title: 'one', file: 'a.test.ts', line: 2 },
      { ids: ['A-2', 'A-3'], title: 'two', file: 'a.test.ts', line: 3 },
    ])
  })

  it.each([
    ['a line comment', "// requirement('A-1', 'one', run)"],
    ['a comment block', "/* requirement('A-1', 'one', run)\n */"],
    ['a string', `const s = "requirement('A-1', 'one', run)"`],
    ['a template', "const s = `requirement('A-1', 'one', run)`"],
    [
      'a template in a template',
      `const s = \`${hole("`requirement('A-1', 'one', run)`")} ${hole('"}"')} requirement('A-1', 'x')\``,
    ],
    ['a regular expression', "const s = /requirement('A-1', 'one')/.test(x)"],
    ['another function', "other.requirement('A-1', 'one'); myrequirement('A-1', 'one')"],
    ['its declaration', "function requirement('A-1', 'one') {}"],
  ])('does not count what stands in %s', (_, source) => {
    expect(scan(source)).toEqual([])
  })

  it.each([
    ['a regular expression with a quote', "x(/'[/']/, y / 2); requirement('A-1', 'one', run)"],
    ['a division', "const z = (a) / b / 2 // '\nrequirement('A-1', 'one', run)"],
    ['a template with braces', `const t = \`a ${hole(' { b: `}` }.b ')} '\`\nrequirement('A-1', 'one', run)`],
    ['comments between the arguments', "requirement(/* 'A-9', */ 'A-1', // 'no'\n 'one', run)"],
    ['an escaped quote', "const q = 'it\\'s'; requirement('A-1', 'one', run)"],
  ])('is not led astray by %s', (_, source) => {
    expect(scan(source)).toMatchObject([{ ids: ['A-1'], title: 'one' }])
  })

  it('keeps the placeholders of a title', () => {
    const title = `takes ${hole("'}'")} ${hole('x')}`
    expect(scan(`requirement('A-1', \`${title}\`, run)`)).toMatchObject([{ title }])
  })

  it.each([
    "requirement(ids, 'one', run)",
    "requirement(['A-1', ...more], 'one', run)",
    "requirement('A-1', title, run)",
  ])('refuses what it cannot read: %s', source => {
    expect(() => scan(`\n${source}`)).toThrow('a.test.ts:2: requirement() must have literal ids')
  })
})
