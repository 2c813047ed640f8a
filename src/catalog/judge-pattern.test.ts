import { describe, expect, it } from 'vitest'
import { judgePattern } from './judge-pattern.ts'

describe('judgePattern', () => {
  it.each([
    '^[a-zA-Z0-9_]*$',
    'a\\-b',
    '\\\\A',
    '[(?=]',
    '^\\d{1,1000}$',
    '(?:a|b)+',
    '[\\]A]',
    '(?<name>x)',
    '\\u00e9',
  ])('finds nothing in %s', pattern => expect(judgePattern(pattern)).toEqual({}))

  it.each(['[', '(', '*a', 'a{2,1}', '(?<n>a)(?<n>b)', 'a\\Z'])(
    'refuses %s, which is not a regular expression',
    pattern => expect(judgePattern(pattern).error).toMatch(/not a regular expression/),
  )

  it('refuses one that is longer than anybody writes', () => {
    expect(judgePattern(`^${'a'.repeat(4000)}$`).error).toMatch(/more than 4000 characters/)
  })

  it.each(['\\Aabc\\z', '(?i)abc', '(?P<name>x)', '[[:alpha:]]+', '[^[:digit:]x]', '\\Qa.b\\E', '(?s:.)'])(
    'takes %s, and warns that JSON Schema has no such thing',
    pattern => {
      const { error, warning } = judgePattern(pattern)
      expect(error).toBeUndefined()
      expect(warning).toMatch(/platforms may not know/)
    },
  )

  it.each([
    ['^(?!x)', 'look-around'],
    ['(?<=a)b', 'look-around'],
    ['(a)\\1', 'back reference'],
    ['(?<n>a)\\k<n>', 'back reference'],
    ['a{1001}', 'repetition'],
    ['a{2,5000}', 'repetition'],
  ])('refuses %s, which takes too long to match', (pattern, what) => {
    expect(judgePattern(pattern).error).toMatch(new RegExp(`has a ${what}.*; \\w`))
  })
})
