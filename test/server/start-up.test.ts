import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'

const src = join(import.meta.dirname, '..', '..', 'src')

it.each(['server/serve.ts', 'server/index.ts', 'index.ts', 'demo/demo-broker.ts'])(
  '%s loads no package before it is needed, save for the one that describes settings',
  file => {
    expect([...packagesOf(join(src, file))].filter(name => name !== 'valibot')).toEqual([])
  },
)

it('what reads a YAML file is the first to load a parser', () => {
  expect([...packagesOf(join(src, 'shape/yaml.ts'))]).toEqual(['yaml'])
})

/** The packages that importing a file loads: static imports, types left out. */
function packagesOf(file: string, seen = new Set<string>(), packages = new Set<string>()): Set<string> {
  if (seen.has(file)) return packages
  seen.add(file)
  const imports = readFileSync(file, 'utf8').matchAll(/^(?:import|export) (?!type )[^'"]*?from '([^']+)'/gm)
  for (const [, name = ''] of imports) {
    if (name.startsWith('.')) packagesOf(join(dirname(file), name), seen, packages)
    else if (!name.startsWith('node:')) packages.add(name)
  }
  return packages
}
