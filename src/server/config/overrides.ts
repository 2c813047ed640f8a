import { configShape } from '../../settings/config.ts'
import { listFields, snakeCase } from '../../shape/describe.ts'
import type { Mistake } from '../../shape/mistake.ts'
import { fromCode, isObject, type Path, put, type Source, setPlace, valueAt } from '../../shape/place.ts'
import type { Environment } from '../../shape/placeholders.ts'
import { normalize } from '../../shape/read.ts'
import { toMistake } from './mistake.ts'

/** What the command line can say; the words of `purser serve`. */
export interface ConfigFlags {
  readonly broker?: string | undefined
  readonly host?: string | undefined
  readonly port?: string | number | undefined
  readonly store?: string | undefined
  /** Any setting by its name: `engine.lease=30s`. */
  readonly set?: readonly string[] | undefined
}

/** Puts what the environment and the command line say over what the file says. */
export function applyOverrides(source: Source, env: Environment, flags: ConfigFlags): readonly Mistake[] {
  for (const [name, path] of [['PORT', ['server', 'port']] as const, ...environmentNames()]) {
    const value = env[name]
    if (isGiven(value) && !isServiceLink(name, value, env)) put(source, path, value, { source: name })
  }
  const mistakes = [...applyUser(source, env), ...applySet(source, flags.set ?? [])]
  for (const [name, path, value] of [
    ['[broker]', ['broker'], flags.broker],
    ['--host', ['server', 'host'], flags.host],
    ['--port', ['server', 'port'], flags.port],
    ['--store', ['store'], flags.store],
  ] as const) {
    if (value !== undefined) put(source, path, value, { source: name })
  }
  return mistakes
}

/** The variable of each setting: `engine.lease` is PURSER_ENGINE_LEASE. What stands in a list has none. */
export function environmentNames(): readonly (readonly [name: string, path: readonly string[]])[] {
  return listFields(configShape)
    .filter(({ path, described: { info } }) => info.kind !== undefined && !path.includes('[]'))
    .map(({ path }) => {
      const words = path.map(key => snakeCase(key).toUpperCase())
      return [`PURSER_${words.join('_')}`, path]
    })
}

function isGiven(value: string | undefined): value is string {
  return value !== undefined && value !== ''
}

/** Beside a Service called purser-server, Kubernetes sets PURSER_SERVER_PORT=tcp://… in every pod; nobody meant us. */
function isServiceLink(name: string, value: string, env: Environment): boolean {
  return value.startsWith('tcp://') && isGiven(env[name.replace(/_PORT$/, '_SERVICE_HOST')])
}

/** `--set server.port=80`. */
function applySet(source: Source, settings: readonly string[]): readonly Mistake[] {
  const mistakes: Mistake[] = []
  for (const setting of settings) {
    const [, name = '', value = ''] = /^([^=]+)=(.*)$/s.exec(setting) ?? []
    if (name === '') {
      const problem = 'write it as setting=value, such as engine.lease=30s'
      mistakes.push({ path: [], place: { source: '--set' }, problem })
      continue
    }
    const given = fromCode({})
    put(given, name.split('.'), value, { source: '--set' })
    const { source: tidied, mistakes: found } = normalize(configShape, given, { lenient: true })
    mistakes.push(...found.map(toMistake))
    for (const path of leaves(tidied.root)) put(source, path, value, { source: '--set' })
  }
  return mistakes
}

function leaves(value: unknown): readonly Path[] {
  if (!isObject(value)) return [[]]
  return Object.entries(value).flatMap(([key, child]) => leaves(child).map(path => [key, ...path]))
}

/** One more user with every role; it takes the place of a user of that name in the file. */
function applyUser(source: Source, env: Environment): readonly Mistake[] {
  const { PURSER_USERNAME: username, PURSER_PASSWORD: password } = env
  if (!isGiven(username) && !isGiven(password)) return []
  if (!isGiven(username)) return [missingBeside('PURSER_USERNAME', 'PURSER_PASSWORD')]
  if (!isGiven(password)) return [missingBeside('PURSER_PASSWORD', 'PURSER_USERNAME')]
  const users = valueAt(source.root, ['auth', 'basic']) ?? []
  if (!Array.isArray(users)) return []
  const found = users.findIndex(other => isObject(other) && other.username === username)
  const index = found < 0 ? users.length : found
  users[index] = { username, password, roles: ['platform', 'admin'] }
  if (users.length === 1) put(source, ['auth', 'basic'], users, { source: 'PURSER_USERNAME' })
  setPlace(source.places, users, index, { source: 'PURSER_USERNAME' })
  return []
}

function missingBeside(name: string, other: string): Mistake {
  return { path: [], place: { source: name }, problem: `is missing beside ${other}`, remedy: 'set both' }
}
