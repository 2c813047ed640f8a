import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { useBuiltPackage } from '../cli/built-package.ts'
import { readDeclarations } from './exports.ts'

const built = useBuiltPackage()

it('everything that a public type names is exported too', () => {
  const { exports } = JSON.parse(readFileSync(join(built.folder, 'package.json'), 'utf8'))
  const entries = Object.values<{ types?: string }>(exports).flatMap(({ types }) => types ?? [])
  const { exported, hidden } = readDeclarations(entries.map(entry => join(built.folder, entry)))
  expect(entries.length).toBeGreaterThan(9)
  expect([...exported.keys()]).toEqual(expect.arrayContaining(['Broker', 'Observer', 'Runtime', 'Store', 'Clock']))
  // How a schema becomes a type: what comes out is what readers see.
  const functions = /^(Read|Written|Wire|FromJsonSchema|StandardTypes), /
  expect(hidden.filter(name => !functions.test(name))).toEqual([])
})
