import { getIn, isTree, setIn, type Tree } from './tree.ts'

/** A Spring broker's application.yaml is told by its `spring` or `com` key. */
export function isSpringFile(tree: Tree): boolean {
  return Object.hasOwn(tree, 'spring') || Object.hasOwn(tree, 'com')
}

/** What of such a file concerns us: our own keys as they are, Spring's names under ours. The rest is left out. */
export interface SpringSettings {
  readonly tree: Tree
  /** Path in the file -> path of the setting it became. */
  readonly moved: ReadonlyMap<string, string>
  /** The settings that hold a cron pattern of Spring's. */
  readonly patterns: readonly (readonly string[])[]
  /** The file holds a catalog itself. */
  readonly hasCatalog: boolean
}

/** `known`: the settings' own keys, at the top and in `server`, a section that Spring has too. */
export function readSpring(tree: Tree, known: { top: readonly string[]; server: readonly string[] }): SpringSettings {
  const kept = pick(tree, known.top)
  if (isTree(kept.server)) kept.server = pick(kept.server, known.server)
  const moved = new Map<string, string>()
  const patterns: (readonly string[])[] = []
  for (const { from, to, isPattern } of moves) {
    const found = lookUp(tree, from)
    if (found === undefined || getIn(kept, to) !== undefined) continue
    setIn(kept, to, found.value)
    moved.set(found.path.join('.'), to.join('.'))
    if (isPattern) patterns.push(to)
  }
  const hasCatalog = lookUp(tree, ['spring', 'cloud', 'openservicebroker', 'catalog']) !== undefined
  return { tree: kept, moved, patterns, hasCatalog }
}

/** Where Spring's pattern names a day of the month and one of the week, both must hold; elsewhere in cron either will do. */
export function asSpringReads(pattern: unknown): unknown {
  if (typeof pattern !== 'string') return pattern
  const fields = pattern.trim().split(/\s+/)
  const [, , , day = '*', , weekday = '*'] = fields
  if (fields.length !== 6 || [day, weekday].some(field => field === '*' || field === '?')) return pattern
  return [...fields.slice(0, 5), `+${weekday}`].join(' ')
}

const framework = ['com', 'equalities', 'osbapi'] as const

interface Move {
  readonly from: readonly string[]
  readonly to: readonly string[]
  readonly isPattern: boolean
}

const moves: readonly Move[] = (['instances', 'bindings'] as const).flatMap(section => {
  const spring = [...framework, `service-${section}`]
  const cleanUp = (name: string, isPattern: boolean) => ({
    from: [...spring, 'operations', `cleanup-${name}`],
    to: ['chores', 'cleanUp', section, name],
    isPattern,
  })
  return [
    { from: [...spring, 'force-delete-unknown'], to: [section, 'forceDeleteUnknown'], isPattern: false },
    cleanUp('age', false),
    ...['all', 'succeeded', 'failed'].map(name => cleanUp(name, true)),
  ]
})

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
