import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { createObjectRun } from './run-object.ts'

const entries = {
  name: v.string(),
  size: v.optional(v.number()),
  kind: v.optional(v.string(), 'usual'),
  inner: v.optional(v.object({ deep: v.number() })),
}
const theirs = v.object(entries)
const run = createObjectRun(entries, theirs['~run'].bind(theirs))

describe('an object is read as valibot reads it', () => {
  for (const [what, given] of [
    ['with all of its fields', { name: 'a', size: 1, kind: 'b', inner: { deep: 2 } }],
    ['with defaults', { name: 'a' }],
    ['with a field that is undefined', { name: 'a', size: undefined, kind: undefined }],
    ['with keys that nobody knows', { name: 'a', other: 1 }],
    ['with a mistake', { name: 1 }],
    ['with several mistakes, one deeper', { name: 1, size: 'x', inner: { deep: 'y' } }],
    ['without a field that must be there, and with a mistake', { size: 'x' }],
  ] as const)
    it(what, () => {
      expect(run({ value: given }, {})).toEqual(theirs['~run']({ value: given }, {}))
    })

  it('but for a list, which valibot takes for one', () => {
    for (const value of [[], 'text', null]) expect(run({ value }, {}).issues).toHaveLength(1)
  })
})
