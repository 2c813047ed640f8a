import { expect, it } from 'vitest'
import { chooseVersion } from './engine.ts'

it.each([
  ['Podman 4', '1.41', '1.41'],
  ['Docker 20.10', '1.41', '1.41'],
  ['an engine of long ago', '1.9', '1.9'],
  ['Docker 25', '1.44', '1.44'],
  ['Docker 29', '1.52', '1.52'],
  ['an engine to come', '1.60', '1.52'],
  ['an engine to come, of another kind', '2.0', '1.52'],
  ['an engine that does not say', 'undefined', '1.52'],
])('speaks with %s', (_, latest, version) => {
  expect(chooseVersion(latest)).toBe(version)
})
