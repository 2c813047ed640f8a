import { describe, expect, it } from 'vitest'
import type { FieldMistake } from './mistake.ts'
import { createTold } from './told.ts'

describe('createTold', () => {
  it('keeps the first hundred of each severity, counts the others and does not make them', () => {
    const told = createTold()
    let made = 0
    const mistake = (path: number): FieldMistake => {
      made += 1
      return { kind: 'wrong', path: [path], found: '', type: '', rule: 'a rule', problem: 'wrong', remedy: 'mend it' }
    }
    for (let index = 0; index < 5_000; index += 1) {
      told.add('warning', () => ({ ...mistake(index), severity: 'warning' }))
      if (index % 10 === 0) told.add('error', () => mistake(index))
    }
    expect(made).toBe(200)
    const all = told.mistakes()
    expect(all).toHaveLength(202)
    expect(all.at(-2)).toMatchObject({ path: [990], problem: 'and 400 more mistakes; correct these first' })
    expect(all.at(-1)).toMatchObject({ severity: 'warning', problem: 'and 4900 more warnings; correct these first' })
    expect(all.at(-1)?.remedy).toBeUndefined()
  })

  it('says nothing of others where there are none', () => {
    const told = createTold()
    expect(told.mistakes()).toEqual([])
  })
})
