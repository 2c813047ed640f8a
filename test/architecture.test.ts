import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { describe, expect, it } from 'vitest'

const src = join(import.meta.dirname, '..', 'src')

/** The table of ARCHITECTURE.md: a layer may import itself and what its row lists; `*` is everything above it. */
function layersOf(document: string): Map<string, readonly string[]> {
  const section = document.split('\n## Layers\n')[1]?.split('\n## ')[0] ?? ''
  const rows = section.split('\n').filter(line => line.startsWith('| `'))
  const layers = new Map<string, readonly string[]>()
  for (const row of rows) {
    const [, names = '', , imports = ''] = row.split('|')
    for (const name of quotedIn(names)) {
      if (layers.has(name)) throw new Error(`ARCHITECTURE.md has two rows for the layer ${name}`)
      const listed = quotedIn(imports)
      layers.set(name, listed.includes('*') ? [...layers.keys()] : listed)
    }
  }
  return layers
}

function quotedIn(cell: string): string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(match => match[1] ?? '')
}

const allowed = layersOf(readFileSync(join(src, '..', 'ARCHITECTURE.md'), 'utf8'))

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

  it('has one row in ARCHITECTURE.md for each layer, and none for anything else', () => {
    const layers = readdirSync(src).filter(name => !name.includes('.test'))
    expect([...allowed.keys()].sort()).toEqual(layers.sort())
  })

  it('lets a layer import only layers above it, so that there are no cycles', () => {
    const names = [...allowed.keys()]
    for (const [name, imports] of allowed)
      for (const imported of imports)
        expect(names.slice(0, names.indexOf(name)), `${name} may import ${imported}`).toContain(imported)
  })

  it.each(sources.map(file => relative(src, file)))('%s imports only what its layer allows', file => {
    const from = layerOf(join(src, file))
    const may = allowed.get(from) ?? []
    for (const imported of importsOf(join(src, file))) {
      const to = layerOf(imported)
      if (to !== from) expect(may, `${file} -> ${relative(src, imported)}`).toContain(to)
    }
  })

  it.each(sources.map(file => relative(src, file)))(
    '%s stays small and reads no clock or environment of its own',
    file => {
      const text = readFileSync(join(src, file), 'utf8')
      expect(text.split('\n').length, 'lines').toBeLessThanOrEqual(400)
      const layer = layerOf(file === '' ? src : join(src, file))
      if (!['running', 'server', 'cli'].includes(layer)) expect(text).not.toMatch(/process\.(env|exit)\b/)
      if (!['clock.ts', 'testing', 'cli'].includes(layer))
        expect(text).not.toMatch(/Date\.now\(|new Date\(\)|\bsetTimeout\(|\bsetInterval\(/)
    },
  )

  it('tells what happens as typed events only: no free text for the log, no console', () => {
    for (const file of sources.filter(name => !['cli', 'testing'].includes(layerOf(name))))
      expect(readFileSync(file, 'utf8'), relative(src, file)).not.toMatch(
        /\bobserver\??\.(info|warn|error)\(|\bconsole\.\w+\(/,
      )
  })

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
