import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

const src = fileURLToPath(new URL('../../src', import.meta.url))

it('purser loads only itself before it knows the command', () => {
  const loaded = closure(join(src, 'cli', 'main.ts'))
  expect(packagesOf(loaded)).toEqual(['commander'])
  expect(
    filesOf(loaded).filter(
      file =>
        !/^cli\/(render\/|[\w-]+\.ts$)|^shape\/(count|duration|thrown)\.ts$|^running\/package-version\.ts$/.test(file),
    ),
  ).toEqual([])
})

it.each(readdirSync(join(src, 'cli', 'commands')))('purser --help loads no broker with %s', name => {
  const loaded = closure(join(src, 'cli', 'commands', name))
  expect(packagesOf(loaded).filter(name => name !== 'commander')).toEqual([])
  const light =
    /^(cli|client|protocol)\/|^(clock|running\/package-version)\.ts$|^shape\/(count|duration|json|thrown)\.ts$/
  expect(filesOf(loaded).filter(file => !light.test(file))).toEqual([])
})

const packagesOf = (loaded: Set<string>) => [...loaded].filter(name => !/^\/|^node:/.test(name))
const filesOf = (loaded: Set<string>) =>
  [...loaded].filter(name => name.startsWith('/')).map(file => relative(src, file))

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
