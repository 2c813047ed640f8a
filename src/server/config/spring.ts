import { isTree, type Tree } from './tree.ts'

/** A Spring broker's application.yaml is told by its `spring` or `com` key. */
export function isSpringFile(tree: Tree): boolean {
  return Object.hasOwn(tree, 'spring') || Object.hasOwn(tree, 'com')
}

/** What of such a file concerns us: our own keys as they are, Spring's names under ours. The rest is left out. */
export interface SpringSettings {
  readonly tree: Tree
  /** Path in the file -> path of the setting it became. */
  readonly moved: ReadonlyMap<string, string>
  /** The file holds a catalog itself. */
  readonly hasCatalog: boolean
}

/** `known`: the settings' own keys, at the top and in `server`, a section that Spring has too. */
export function readSpring(tree: Tree, known: { top: readonly string[]; server: readonly string[] }): SpringSettings {
  const kept = pick(tree, known.top)
  if (isTree(kept.server)) kept.server = pick(kept.server, known.server)
  const moved = new Map<string, string>()
  for (const [section, from] of forceDelete) {
    const found = lookUp(tree, [...framework, from, 'force-delete-unknown'])
    if (found === undefined) continue
    const own = kept[section]
    if (isTree(own) && Object.hasOwn(own, 'forceDeleteUnknown')) continue
    if (own !== undefined && !isTree(own)) continue
    kept[section] = { ...own, forceDeleteUnknown: found.value }
    moved.set(found.path.join('.'), `${section}.forceDeleteUnknown`)
  }
  const hasCatalog = lookUp(tree, ['spring', 'cloud', 'openservicebroker', 'catalog']) !== undefined
  return { tree: kept, moved, hasCatalog }
}

const framework = ['com', 'equalities', 'osbapi'] as const
const forceDelete = [
  ['instances', 'service-instances'],
  ['bindings', 'service-bindings'],
] as const

function pick(tree: Tree, keys: readonly string[]): Tree {
  return Object.fromEntries(Object.entries(tree).filter(([key]) => keys.includes(key)))
}

/** Spring compares names without dashes, underscores and case. */
function lookUp(tree: Tree, names: readonly string[]): { value: unknown; path: readonly string[] } | undefined {
  let value: unknown = tree
  const path: string[] = []
  for (const name of names) {
    if (!isTree(value)) return undefined
    const key = Object.keys(value).find(candidate => uniform(candidate) === uniform(name))
    if (key === undefined) return undefined
    path.push(key)
    value = value[key]
  }
  return { value, path }
}

function uniform(name: string): string {
  return name.replaceAll(/[-_]/g, '').toLowerCase()
}
