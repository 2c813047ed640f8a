import type { Mistake } from './mistake.ts'
import type { Environment } from './placeholders.ts'
import { isTree, join, type Origins, setIn, type Tree } from './tree.ts'

/** What the command line can say; the words of `purser serve`. */
export interface ConfigFlags {
  readonly broker?: string | undefined
  readonly host?: string | undefined
  readonly port?: string | number | undefined
  readonly store?: string | undefined
}

/** Puts what the environment and the command line say over what the file says. */
export function applyOverrides(
  tree: Tree,
  origins: Origins,
  { env, flags, cwd }: { env: Environment; flags: ConfigFlags; cwd: string },
): readonly Mistake[] {
  const set = (where: string, key: readonly string[], value: unknown) => {
    setIn(tree, key, value)
    origins.set(key.reduce(join, ''), { where, folder: cwd })
  }
  for (const [name, key] of variables) {
    if (isGiven(env[name]) && !isServiceLink(name, env)) set(name, key, env[name])
  }
  const mistakes = applyUser(tree, origins, env, cwd)
  for (const [where, key, value] of [
    ['[broker]', ['broker'], flags.broker],
    ['--host', ['server', 'host'], flags.host],
    ['--port', ['server', 'port'], flags.port],
    ['--store', ['store'], flags.store],
  ] as const) {
    if (value !== undefined) set(where, key, value)
  }
  return mistakes
}

/** The later one wins: a platform sets PORT for whatever runs on it. */
const variables: readonly (readonly [name: string, key: readonly string[]])[] = [
  ['PORT', ['server', 'port']],
  ['PURSER_PORT', ['server', 'port']],
  ['PURSER_HOST', ['server', 'host']],
  ['PURSER_PUBLIC_URL', ['server', 'publicUrl']],
  ['PURSER_STORE', ['store']],
  ['PURSER_LOG_FORMAT', ['log', 'format']],
]

function isGiven(value: string | undefined): value is string {
  return value !== undefined && value !== ''
}

/** Kubernetes gives every pod PURSER_PORT=tcp://… where a Service is called purser; nobody meant us. */
function isServiceLink(name: string, env: Environment): boolean {
  return name === 'PURSER_PORT' && isGiven(env.PURSER_SERVICE_HOST) && (env[name] ?? '').startsWith('tcp://')
}

/** One more user with every role; it takes the place of a user of that name in the file. */
function applyUser(tree: Tree, origins: Origins, env: Environment, cwd: string): readonly Mistake[] {
  const { PURSER_USERNAME: username, PURSER_PASSWORD: password } = env
  if (!isGiven(username) && !isGiven(password)) return []
  if (!isGiven(username)) return [{ where: 'PURSER_USERNAME', problem: 'is missing beside PURSER_PASSWORD; set both' }]
  if (!isGiven(password)) return [{ where: 'PURSER_PASSWORD', problem: 'is missing beside PURSER_USERNAME; set both' }]
  const auth = tree.auth ?? {}
  const basic: unknown = isTree(auth) ? (auth.basic ?? []) : undefined
  if (!isTree(auth) || !Array.isArray(basic)) return []
  const user = { username, password, roles: ['platform', 'viewer', 'operator'] }
  const found = basic.findIndex(other => isTree(other) && other.username === username)
  const index = found < 0 ? basic.length : found
  tree.auth = { ...auth, basic: basic.toSpliced(index, 1, user) }
  origins.set(`auth.basic[${index}]`, { where: 'PURSER_USERNAME', folder: cwd })
  return []
}
