import { readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

const src = fileURLToPath(new URL('../../src', import.meta.url))

it('purser --help loads only what describes commands, never what runs them', () => {
  const loaded = [...closure(join(src, 'cli', 'main.ts'))]
  const packages = loaded.filter(name => !name.startsWith('/') && !name.startsWith('node:'))
  expect(packages).toEqual(['commander'])
  const files = loaded.filter(name => name.startsWith('/')).map(file => relative(src, file))
  expect(files.filter(file => !/^cli\/(commands\/|render\/|[\w-]+\.ts$)/.test(file))).toEqual([])
})

/** Everything that importing a file imports: static imports, types left out. */
function closure(file: string, seen = new Set<string>()): Set<string> {
  if (seen.has(file)) return seen
  seen.add(file)
  if (!file.startsWith('/')) return seen
  for (const [, name = ''] of readFileSync(file, 'utf8').matchAll(
    /^(?:import|export) (?!type )[^'"]*?from '([^']+)'/gm,
  )) {
    closure(name.startsWith('.') ? join(dirname(file), name) : name, seen)
  }
  return seen
}
