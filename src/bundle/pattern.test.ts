import { describe, expect, it } from 'vitest'
import { judgePattern } from './pattern.ts'

describe('judgePattern', () => {
  it.each(['^[a-zA-Z0-9_]*$', 'a\\-b', '\\\\A', '[(?=]', '^\\d{1,1000}$', '(?:a|b)+', '[\\]A]', '(?<name>x)'])(
    'finds nothing in %s',
    pattern => expect(judgePattern(pattern)).toEqual({}),
  )

  it.each(['[', '(', '*a', 'a{2,1}', '(?<n>a)(?<n>b)'])('refuses %s, which is not a regular expression', pattern =>
    expect(judgePattern(pattern).error).toMatch(/not a regular expression/),
  )

  it('refuses one that is longer than anybody writes', () => {
    expect(judgePattern(`^${'('.repeat(600)}${')'.repeat(600)}$`).error).toMatch(/more than 1000 characters/)
  })

  it.each(['\\Aabc\\z', '(?i)abc', '(?P<name>x)', '[[:alpha:]]+', '[^[:digit:]x]', '\\Qa.b\\E', '(?s:.)'])(
    'refuses %s, which JavaScript would read as something else',
    pattern => expect(judgePattern(pattern).error).toMatch(/which Go knows and JSON Schema does not/),
  )

  it.each([
    ['^(?!x)', 'look-around'],
    ['(?<=a)b', 'look-around'],
    ['(a)\\1', 'back reference'],
    ['a{1001}', 'repetition'],
    ['a{2,5000}', 'repetition'],
  ])('warns of %s', (pattern, what) => {
    const { error, warning } = judgePattern(pattern)
    expect(error).toBeUndefined()
    expect(warning).toContain(what)
  })
})
