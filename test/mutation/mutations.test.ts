import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { mutations } from './mutations.ts'
import { applyMutation } from './plugin.ts'
import { findWatcher, recorded } from './watchers.ts'

const root = join(import.meta.dirname, '..', '..')

/** The mutations themselves are run by `npm run test:guards`. */
describe('mutations', () => {
  it.each(mutations)('$name: the text is there, once, and has a name of its own', mutation => {
    const source = readFileSync(join(root, mutation.file), 'utf8')
    expect(applyMutation(source, mutation)).not.toBe(source)
    expect(source.split(mutation.find)).toHaveLength(2)
    expect(mutations.filter(({ name }) => name === mutation.name)).toHaveLength(1)
    for (const suite of mutation.suite) expect(existsSync(join(root, suite)), suite).toBe(true)
  })

  it('each was seen to turn a test red: npm run test:guards -- --record', () => {
    const seen = mutations.filter(mutation => findWatcher(mutation) !== undefined).map(({ name }) => name)
    expect(seen).toEqual(mutations.map(({ name }) => name))
    const names = Object.values(recorded).flatMap(watched => Object.keys(watched))
    expect(names.toSorted()).toEqual(seen.toSorted())
  })
})
