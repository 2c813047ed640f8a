import { expect, it } from 'vitest'
import { chooseVersion } from './api-version.ts'

it.each([
  ['Podman 4', '1.41', '1.24', '1.41'],
  ['Docker 20.10', '1.41', '1.12', '1.41'],
  ['an engine of long ago', '1.9', '1.2', '1.9'],
  ['Docker 25', '1.44', '1.24', '1.44'],
  ['Docker 29, which knows nothing older', '1.52', '1.44', '1.44'],
  ['an engine to come, which has given 1.44 up', '1.60', '1.50', '1.50'],
  ['an engine to come, of another kind', '2.0', '1.50', '1.50'],
  ['an engine that does not say', 'undefined', 'undefined', '1.44'],
])('speaks with %s', (_, newest, oldest, version) => {
  expect(chooseVersion(newest, oldest)).toBe(version)
})
