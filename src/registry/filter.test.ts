import { describe, expect, it } from 'vitest'
import { createFilter, findProblem, letsNothingPass } from './filter.ts'

const names = ['org/pg-apb', 'org/mysql-apb', 'org/tool']
const passing = (whiteList: readonly string[], blackList: readonly string[]) =>
  names.filter(createFilter({ whiteList, blackList }))

describe('the lists of a registry', () => {
  it.each([
    ['neither', [], [], []],
    ['a white list', ['-apb$'], [], ['org/pg-apb', 'org/mysql-apb']],
    ['a black list alone', [], ['tool'], []],
    ['both', ['.*'], ['mysql'], ['org/pg-apb', 'org/tool']],
    ['a search, not a match of the whole', ['ysq'], [], ['org/mysql-apb']],
    ['empty entries, which count as absent', ['', ''], [''], []],
    ['an empty entry in a black list', ['.*'], [''], names],
    ['a flag and an escape as Go has them', ['(?i)\\AORG/PG'], [], ['org/pg-apb']],
  ])('%s', (_, white, black, expected) => {
    expect(passing(white, black)).toEqual(expected)
  })

  it('says which entries are not regular expressions', () => {
    expect(findProblem('.*-apb$')).toBeUndefined()
    expect(findProblem('(unclosed')).toContain('not a regular expression')
    expect(findProblem('(?!tool)')).toContain('look-around')
  })

  it('knows when nothing can pass', () => {
    expect(letsNothingPass([''])).toBe(true)
    expect(letsNothingPass(['x'])).toBe(false)
  })
})
