import { expect, it } from 'vitest'
import { holds } from './profiles.ts'

it.each([
  ['cloud', true],
  ['!cloud', false],
  ['other', false],
  ['!other', true],
  ['cloud & eu', true],
  ['cloud&us', false],
  ['us | eu', true],
  ['cloud & (us | eu)', true],
  ['!(cloud & eu)', false],
  ['!!cloud', true],
  ['eu-west.1', true],
  ['', false],
  ['cloud &', false],
  ['(cloud', false],
  ['cloud)', false],
  ['cloud eu', false],
  ['& cloud', false],
])('%s', (expression, expected) => {
  expect(holds(expression, new Set(['cloud', 'eu', 'eu-west.1']))).toBe(expected)
})
