import { describe, expect, it } from 'vitest'
import { compilePattern, PatternError, withinLimits } from './pattern.ts'

const test = (pattern: string, text: string) => compilePattern(pattern).test(text)

describe('a pattern', () => {
  it.each([
    ['^[a-z]+$', 'abc', 'abc\n'],
    ['b', 'abc', 'ac'],
    ['^\\u00e9.$', 'é😀', 'é'],
    ['^\\ud83d\\ude00\\\\u0041$', '😀\\u0041', '😀A'],
    ['^[\\u{1F600}-\\u{1F64F}]$', '😀', 'x'],
    ['^a\\-b\\/c$', 'a-b/c', 'a\\-b/c'],
    ['^\\p{L}+$', 'Straße', 'a1'],
    ['^(?<year>\\d{4})-\\d\\d$', '2026-11', '26-11'],
    ['^[^]$', '\n', ''],
    ['(?i)^abc$', 'ABC', 'AB'],
    ['\\Aabc\\z', 'abc', 'abcd'],
    ['', '', undefined],
  ])('%j means what JSON Schema, or Go, means by it', (pattern, yes, no) => {
    expect(test(pattern, yes)).toBe(true)
    if (no !== undefined) expect(test(pattern, no)).toBe(false)
  })

  it.each(['^(a+)+$', '^(a|aa)+$', '(.*)*x', '^(([a-z])+.)+[A-Z]([a-z])+$'])('%s is matched in linear time', pattern =>
    expect(test(pattern, `${'a'.repeat(100_000)}!`)).toBe(false),
  )

  it.each([`(${'abcdefghi'.repeat(100)}){1000}`, '(.{0,31}){0,31}'.repeat(10), '((a{10}b){10}){60}'])(
    '%s is refused before it is compiled',
    pattern => expect(() => compilePattern(pattern)).toThrow(/repeats its parts \d+ times/),
  )

  it('is not matched with more text than there is time for', () => {
    expect(() => test('^(\\d?){900}$', '1'.repeat(1_000_000))).toThrow(PatternError)
  })
})

describe('withinLimits', () => {
  it('counts what all patterns match, and begins anew', () => {
    const pattern = compilePattern('^[a-z]{0,500}$')
    const match = () => Array.from({ length: 100 }, () => pattern.test('a'.repeat(1000)))
    expect(() => withinLimits(match)).toThrow(/shorten the text/)
    expect(withinLimits(() => pattern.test('a'.repeat(1000)))).toBe(false)
    expect(withinLimits(() => pattern.test('abc'))).toBe(true)
  })

  it('counts what all patterns take to compile, the same one once', () => {
    const compile = (patterns: readonly string[]) => withinLimits(() => patterns.map(compilePattern))
    expect(() => compile(Array.from({ length: 1000 }, (_, index) => `${index}a{1000}`))).toThrow(/take some out/)
    expect(compile(Array.from({ length: 10_000 }, () => 'a{1000}'))).toHaveLength(10_000)
  })
})
