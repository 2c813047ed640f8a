import { suggest } from '../../shape/suggest.ts'
import { keysOfSection, listKnownSettings } from './known-settings.ts'
import type { Mistake } from './mistake.ts'
import { configSchema } from './schema.ts'
import type { Issue, Path, ValueOf } from './section.ts'
import { maskStoreUrl } from './store-url.ts'
import { findOrigin, getIn, isTree, join, type Origins, type Tree, toPath } from './tree.ts'

export type Settings = ValueOf<typeof configSchema>

/** The settings with their defaults, or every mistake in them. */
export function validate(tree: Tree, origins: Origins): { settings: Settings } | { mistakes: readonly Mistake[] } {
  const issues: Issue[] = []
  const settings = configSchema.read(tree, [], issue => issues.push(issue))
  const doubles = findDoubleUsers(tree, origins)
  if (settings !== undefined && doubles.length === 0) return { settings }
  return { mistakes: [...issues.map(issue => toMistake(issue, tree, origins)), ...doubles] }
}

function toMistake(issue: Issue, tree: Tree, origins: Origins): Mistake {
  if ('unknownKey' in issue) return toUnknownKey(issue.path, issue.unknownKey, origins)
  const { path, rule } = issue
  // A rule about a whole entry says itself what is missing in it.
  const problem = rule.startsWith('needs') ? rule : `${describeFound(path, tree)}; ${rule}`
  return { where: findOrigin(origins, path)?.where, path: toPath(path), problem }
}

function describeFound(path: Path, tree: Tree): string {
  const value = getIn(tree, path)
  if (value !== undefined) return `found ${show(path, value)}`
  const preset = listKnownSettings().find(({ key }) => key === toPath(path))?.default
  return preset === undefined ? 'is missing' : `found its default ${show(path, preset)}`
}

function toUnknownKey(section: Path, key: string, origins: Origins): Mistake {
  const near = suggest(key, keysOfSection(section))
  const meant = near === undefined ? findElsewhere(key) : toPath([...section, near])
  return {
    where: findOrigin(origins, [...section, key])?.where,
    path: toPath([...section, key]),
    problem:
      meant === undefined
        ? `unknown setting; known here: ${keysOfSection(section).join(', ')}`
        : `unknown setting; did you mean ${meant}?`,
  }
}

/** A setting of that name, or nearly, in another section. */
function findElsewhere(key: string): string | undefined {
  const candidates = new Map(listKnownSettings().map(known => [known.key.split('.').at(-1) ?? '', known.key]))
  const name = suggest(key, [...candidates.keys()])
  return name === undefined ? undefined : candidates.get(name)
}

/** What was found, for people, and nothing that could be a secret. */
function show(path: Path, value: unknown): string {
  if (Array.isArray(value)) return 'a list'
  if (isTree(value)) return 'a map'
  if (path[0] === 'auth' && !harmless.has(String(path[3]))) return `a ${typeof value} (not shown)`
  const text = path[0] === 'store' ? maskStoreUrl(String(value)) : String(value).replace(/\/\/.*@/s, '//[hidden]@')
  const short = text.length > 80 ? `${text.slice(0, 80)}…` : text
  return typeof value === 'string' ? JSON.stringify(short) : short
}

const harmless: ReadonlySet<string> = new Set(['username', 'platform', 'roles'])

function findDoubleUsers(tree: Tree, origins: Origins): Mistake[] {
  const users = getIn(tree, ['auth', 'basic'])
  if (!Array.isArray(users)) return []
  const names = users.map(user => (isTree(user) ? user.username : undefined))
  return names.flatMap((name, index) => {
    if (typeof name !== 'string' || names.indexOf(name) === index) return []
    const path = join(join('auth.basic', index), 'username')
    const where = findOrigin(origins, ['auth', 'basic', index, 'username'])?.where
    return [{ where, path, problem: `found ${JSON.stringify(name)} a second time; each user needs a name of its own` }]
  })
}
