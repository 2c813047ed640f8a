import { expect, it } from 'vitest'
import { isPreRelease, newestFirst } from './version.ts'

it('puts the newest version first, as semantic versions go', () => {
  const order = [
    '2.0.0',
    '2.0.0-rc.1',
    '2.0.0-beta.11',
    '2.0.0-beta.2',
    '2.0.0-beta',
    '2.0.0-alpha',
    'v1.10.0',
    '1.9.9',
  ]
  expect(newestFirst([...order.toReversed(), 'latest', '1.9.9', '1.2'])).toEqual(order)
})

it('tells pre-releases from releases', () => {
  expect(['1.0.0-rc.1', '1.0.0', '1.0.0+build-7'].map(isPreRelease)).toEqual([true, false, false])
})
