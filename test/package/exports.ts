import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** What the declarations of a package tell, by a walk over their text: enough for declarations that tsc has written. */
export interface Declarations {
  /** Every name that some entry exports, and the files that declare it. */
  readonly exported: ReadonlyMap<string, string>
  /** `Name in file` of what an exported declaration names and no entry exports. */
  readonly hidden: readonly string[]
}

export function readDeclarations(entries: readonly string[]): Declarations {
  const exported = new Map<string, string>()
  for (const entry of entries) for (const [name, file] of exportsOf(entry)) exported.set(name, file)
  const hidden = new Set<string>()
  for (const [name, file] of exported) {
    const text = textOf(file)
    // What a file keeps to itself is a part of the declaration, under another name.
    const known = new Set([...importedBy(text).keys(), ...[...text.matchAll(direct)].map(([, own = '']) => own)])
    for (const used of identifiers(declarationOf(text, name)))
      if (known.has(used) && !exported.has(used)) hidden.add(`${used}, named by ${name}`)
  }
  return { exported, hidden: [...hidden].sort() }
}

function exportsOf(file: string, seen = new Set<string>()): [name: string, file: string][] {
  if (seen.has(file)) return []
  seen.add(file)
  const text = textOf(file)
  const found: [string, string][] = []
  for (const [, names = '', from] of text.matchAll(/^export (?:type )?\{([^}]*)\}(?: from '(\.[^']+)')?/gm))
    for (const name of namesIn(names)) {
      const target = from ?? importedBy(text).get(name)
      found.push([name, target === undefined ? file : definer(resolve(file, target), name)])
    }
  for (const [, from = ''] of text.matchAll(/^export (?:type )?\* from '(\.[^']+)'/gm))
    found.push(...exportsOf(resolve(file, from), seen))
  for (const [, name = ''] of text.matchAll(direct)) found.push([name, file])
  return found
}

const direct = /^export (?:declare )?(?:abstract )?(?:interface|type|class|function|const) (\w+)/gm

/** The file that declares the name: a file may only hand it on. */
function definer(file: string, name: string): string {
  return exportsOf(file).find(([found]) => found === name)?.[1] ?? file
}

function importedBy(text: string): Map<string, string> {
  const found = new Map<string, string>()
  for (const [, names = '', from = ''] of text.matchAll(/^import (?:type )?\{([^}]*)\} from '(\.[^']+)'/gm))
    for (const name of namesIn(names)) found.set(name, from)
  return found
}

/** From the name's declaration to the next one. Of a class, only what is not private. */
function declarationOf(text: string, name: string): string {
  const start = text.search(
    new RegExp(`^(?:export )?(?:declare )?(?:abstract )?(?:interface|type|class|function|const) ${name}\\b`, 'm'),
  )
  if (start < 0) return ''
  const rest = text.slice(start + 1)
  const end = rest.search(/^(?:export|declare|import|interface|type|class|function|const) ?/m)
  return end < 0 ? rest : rest.slice(0, end)
}

function identifiers(text: string): Set<string> {
  return new Set(text.match(/\b[A-Z]\w*\b/g) ?? [])
}

function namesIn(list: string): string[] {
  return list
    .split(',')
    .map(name =>
      name
        .replace(/^\s*type\s/, '')
        .replace(/^.* as /, '')
        .trim(),
    )
    .filter(name => name !== '')
}

const texts = new Map<string, string>()

/** Without comments and literals, which may name anything. */
function textOf(file: string): string {
  let text = texts.get(file)
  if (text === undefined) {
    text = readFileSync(file, 'utf8').replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '')
    texts.set(file, text)
  }
  return text
}

function resolve(file: string, target: string): string {
  return join(dirname(file), target).replace(/\.ts$/, '.d.ts')
}
