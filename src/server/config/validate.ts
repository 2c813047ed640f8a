import type { z } from 'zod'
import { keysOfSection, listKnownSettings } from './known-settings.ts'
import type { Mistake } from './mistake.ts'
import { configSchema } from './schema.ts'
import { maskStoreUrl } from './store-url.ts'
import { suggest } from './suggest.ts'
import { findOrigin, getIn, isTree, join, type Origins, type Tree, toPath } from './tree.ts'

export type Settings = z.output<typeof configSchema>

/** The settings with their defaults, or every mistake in them. */
export function validate(tree: Tree, origins: Origins): { settings: Settings } | { mistakes: readonly Mistake[] } {
  const result = configSchema.safeParse(tree)
  const doubles = findDoubleUsers(tree, origins)
  if (result.success && doubles.length === 0) return { settings: result.data }
  const issues = result.success ? [] : result.error.issues
  return { mistakes: [...issues.flatMap(issue => toMistakes(issue, tree, origins)), ...doubles] }
}

function toMistakes(issue: z.core.$ZodIssue, tree: Tree, origins: Origins): Mistake[] {
  if (issue.code === 'unrecognized_keys') return issue.keys.map(key => toUnknownKey(issue.path, key, origins))
  const rule = issue.code === 'invalid_type' ? `allowed: ${kinds[issue.expected] ?? issue.expected}` : issue.message
  // A rule about a whole entry says itself what is missing in it.
  const problem = rule.startsWith('needs') ? rule : `${describeFound(issue.path, tree)}; ${rule}`
  return [{ where: findOrigin(origins, issue.path)?.where, path: toPath(issue.path), problem }]
}

function describeFound(path: readonly PropertyKey[], tree: Tree): string {
  const value = getIn(tree, path)
  if (value !== undefined) return `found ${show(path, value)}`
  const preset = listKnownSettings().find(({ key }) => key === toPath(path))?.default
  return preset === undefined ? 'is missing' : `found its default ${show(path, preset)}`
}

const kinds: Readonly<Record<string, string>> = { object: 'a map of settings', array: 'a list' }

function toUnknownKey(section: readonly PropertyKey[], key: string, origins: Origins): Mistake {
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
function show(path: readonly PropertyKey[], value: unknown): string {
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
