import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { describe, expect, it } from 'vitest'

const src = join(import.meta.dirname, '..', 'src')

/** The whole dependency rule, as ARCHITECTURE.md has it: a layer may import itself and what is listed here. */
const allowed: Readonly<Record<string, readonly string[]>> = {
  protocol: [],
  'clock.ts': [],
  'observer.ts': [],
  'authenticator.ts': [],
  domain: ['protocol'],
  'store.ts': ['protocol', 'domain'],
  store: ['protocol', 'domain', 'store.ts', 'clock.ts'],
  authenticator: ['authenticator.ts'],
  observer: ['observer.ts', 'protocol', 'clock.ts'],
  catalog: ['protocol'],
  bundle: ['protocol', 'domain', 'catalog'],
  'registry.ts': ['domain'],
  registry: ['protocol', 'domain', 'bundle', 'registry.ts', 'clock.ts'],
  'sandbox.ts': ['protocol'],
  sandbox: ['protocol', 'sandbox.ts', 'clock.ts'],
  engine: ['protocol', 'domain', 'store.ts', 'clock.ts', 'observer.ts'],
  author: ['protocol', 'domain', 'catalog', 'engine'],
  driver: ['protocol', 'domain', 'catalog', 'bundle', 'engine', 'author', 'sandbox.ts', 'clock.ts', 'observer.ts'],
  broker: [
    'protocol',
    'domain',
    'catalog',
    'bundle',
    'engine',
    'author',
    'store.ts',
    'registry.ts',
    'sandbox.ts',
    'clock.ts',
    'observer.ts',
  ],
  http: [
    'protocol',
    'domain',
    'catalog',
    'author',
    'broker',
    'store.ts',
    'clock.ts',
    'observer.ts',
    'authenticator.ts',
  ],
  client: ['protocol', 'clock.ts'],
  demo: ['author'],
  server: ['*'],
  'define-broker.ts': ['*'],
  'index.ts': ['*'],
  cli: ['client', 'server', 'authenticator', 'protocol', 'clock.ts', 'domain', 'catalog', 'bundle', 'define-broker.ts'],
  testing: ['*'],
}

/** Concrete implementations are for the composition roots; nobody else knows which one runs. */
const compositionRoots = ['server', 'define-broker.ts', 'testing', 'cli', 'index.ts']
const implementations = ['store', 'authenticator', 'observer', 'registry', 'sandbox', 'driver']

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter(file => file.endsWith('.ts') && !file.includes('.test'))
    .map(file => join(folder, file))
}

function layerOf(file: string): string {
  return relative(src, file).split('/')[0] ?? ''
}

function importsOf(file: string): string[] {
  const text = readFileSync(file, 'utf8')
  return [...text.matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+)'/g)].map(match => join(dirname(file), match[1] ?? ''))
}

const sources = filesBelow(src)

describe('architecture', () => {
  it('finds the sources it judges', () => {
    expect(sources.length).toBeGreaterThan(80)
    expect(sources.flatMap(importsOf).length).toBeGreaterThan(300)
  })

  it.each(sources.map(file => relative(src, file)))('%s imports only what its layer allows', file => {
    const from = layerOf(join(src, file))
    expect(Object.keys(allowed), `${from} is a layer of the table`).toContain(from)
    for (const imported of importsOf(join(src, file))) {
      const to = layerOf(imported)
      const may = allowed[from] ?? []
      if (to !== from && !may.includes('*')) expect(may, `${file} -> ${relative(src, imported)}`).toContain(to)
      if (implementations.includes(to) && to !== from)
        expect(compositionRoots, `${file} names an implementation: ${relative(src, imported)}`).toContain(from)
    }
  })

  it.each(sources.map(file => relative(src, file)))(
    '%s stays small and reads no clock or environment of its own',
    file => {
      const text = readFileSync(join(src, file), 'utf8')
      expect(text.split('\n').length, 'lines').toBeLessThanOrEqual(400)
      const layer = layerOf(file === '' ? src : join(src, file))
      if (!['server', 'cli'].includes(layer)) expect(text).not.toMatch(/process\.(env|exit)\b/)
      if (!['clock.ts', 'testing', 'cli'].includes(layer))
        expect(text).not.toMatch(/Date\.now\(|new Date\(\)|\bsetTimeout\(|\bsetInterval\(/)
    },
  )

  it('never lets one store see another', () => {
    for (const file of sources.filter(name => layerOf(name) === 'store'))
      for (const imported of importsOf(file)) {
        const [, from] = relative(src, file).split('/')
        const [layer, to] = relative(src, imported).split('/')
        if (layer === 'store' && to !== undefined && !to.endsWith('.ts') && from !== undefined && !from.endsWith('.ts'))
          expect(to, `${relative(src, file)} -> ${relative(src, imported)}`).toBe(from)
      }
  })
})
