import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

const root = join(import.meta.dirname, '..', '..')
const promises = readFileSync(join(root, 'SECURITY.md'), 'utf8').split('## What it does not protect')[0] ?? ''

/** `file`: title, as they stand in brackets behind a promise. */
const named = [...promises.matchAll(/`((?:test|src)\/[\w./-]+\.test\.ts)`:\s+([^;)]+?)(?=;|\))/gs)].map(
  ([, file = '', title = '']): [string, string] => [file, title.replaceAll(/\s+/g, ' ')],
)

describe('SECURITY.md', () => {
  it('names a test behind each of its promises', () => {
    const items = promises.split(/\n- /).slice(1)
    expect(items.length).toBeGreaterThan(15)
    for (const item of items) expect(item).toMatch(/`(test|src)\/[\w./-]+\.test\.ts`:/)
  })

  it.each(named)('%s has the test: %s', (file, title) => {
    expect(existsSync(join(root, file)), file).toBe(true)
    expect(readFileSync(join(root, file), 'utf8')).toContain(title)
  })
})
