import { expect, it } from 'vitest'
import { rememberFirst, rememberLatest } from './remember.ts'

it('the latest is made once in a row', () => {
  const made: number[] = []
  const toText = rememberLatest((value: number) => `${made.push(value)}: ${value}`)
  expect([1, 1, 2, 2, 1].map(toText)).toEqual(['1: 1', '1: 1', '2: 2', '2: 2', '3: 1'])
})

it('the first are made once, and others each time: no more than so many are kept', () => {
  const made: string[] = []
  const toText = rememberFirst(2, (value: string) => `${made.push(value)}: ${value}`)
  expect(['a', 'b', 'a', 'c', 'b', 'c'].map(toText)).toEqual(['1: a', '2: b', '1: a', '3: c', '2: b', '4: c'])
})
