import { dirname, resolve } from 'node:path'
import type { RegistrySettings } from '../registry/settings.ts'
import { sensitive } from '../sensitive/sensitive.ts'
import { type ConfigSettings, configShape } from '../settings/config.ts'
import { brokerSections, type Settings } from '../settings/settings.ts'
import { resolveStoreUrl } from '../settings/store-url.ts'
import { isError, isWarning, type Mistake } from '../shape/mistake.ts'
import { fromCode, isObject, type Path, placeOf, put, type Source, showPath, valueAt } from '../shape/place.ts'
import type { Environment } from '../shape/placeholders.ts'
import { read } from '../shape/read.ts'
import { findMisspelt } from './config/misspelt.ts'
import { ConfigError, formatMistake, toMistake } from './config/mistake.ts'
import { applyOverrides, type ConfigFlags } from './config/overrides.ts'
import type { FileSettings } from './config/read-file.ts'
import { checkPatterns, resolveFiles, whyUnreadable } from './config/texts.ts'

export { maskStoreUrl } from '../settings/store-url.ts'
export { ConfigError } from './config/mistake.ts'
export type { ConfigFlags } from './config/overrides.ts'

/** Everything that can be set, complete and checked. Times are milliseconds, sizes bytes, paths absolute. */
export type Config = Omit<ConfigSettings, 'registries'> & {
  readonly registries: readonly RegistrySettings[]
  /** What is allowed and hardly meant, a line each, for the log. */
  readonly warnings: readonly string[]
  /** The file that was read, if there was one. */
  readonly file?: string
  /** Settings whose secret stands in that file, and not in the environment. */
  readonly plainSecrets: readonly string[]
}

export interface LoadConfigOptions {
  /** What --config says. */
  readonly file?: string | undefined
  readonly env: Environment
  readonly flags: ConfigFlags
  readonly cwd: string
  /** Whether logs go to a terminal: the default of `log.format`. */
  readonly terminal?: boolean
}

/** Flags over environment over file over defaults. Throws ConfigError with every mistake there is. */
export async function loadConfig(options: LoadConfigOptions): Promise<Config> {
  const { env, flags, cwd, terminal = process.stdout.isTTY === true } = options
  const file = await findFile(options)
  const home = file === undefined ? cwd : dirname(file)
  const { source, mistakes: ofFile, plainSecrets = [] } = await readSource(file, env)
  const mistakes = [...ofFile, ...applyOverrides(source, env, flags)]
  if (valueAt(source.root, ['log', 'format']) === undefined)
    put(source, ['log', 'format'], terminal ? 'people' : 'json')
  // Only places in the file have a line.
  const folderOf = (path: Path) => (placeOf(source, path)?.line === undefined ? cwd : home)
  const { registries, notes } = await takeRegistries(source, folderOf(['registries']))
  mistakes.push(...notes.filter(isError), ...(await resolveFiles(source, folderOf)), ...(await checkPatterns(source)))
  const reading = read(configShape, source, { textAsValues: true })
  const known = new Set(mistakes.map(({ path }) => showPath(path)))
  mistakes.push(...reading.mistakes.filter(({ path }) => !known.has(showPath(path))).map(toMistake))
  if (mistakes.length > 0 || !reading.ok) throw new ConfigError(inOrder(mistakes))
  const { store, bundles } = reading.value
  return deepFreeze({
    ...reading.value,
    store: sensitive(resolveStoreUrl(store.reveal(), cwd)),
    bundles: { ...bundles, folder: resolve(home, bundles.folder) },
    registries,
    warnings: [...findMisspelt(env), ...notes.filter(isWarning)].map(formatMistake),
    file,
    plainSecrets,
  })
}

/** What of it a broker needs, wherever it runs. */
export function toSettings({ server, ...config }: Config): Settings {
  const { publicUrl, hosts, bodyLimit, syncTimeout, shutdownGrace } = server
  const ofServer = { publicUrl, hosts, bodyLimit, syncTimeout, shutdownGrace }
  const names = Object.keys(brokerSections) as (keyof typeof brokerSections)[]
  return { ...Object.fromEntries(names.map(name => [name, config[name]])), server: ofServer }
}

/** What reads files is loaded only where there is one: most brokers are configured by their environment. */
async function readSource(file: string | undefined, env: Environment): Promise<FileSettings> {
  if (file === undefined) return { source: fromCode({}), mistakes: [] }
  const { readConfigFile } = await import('./config/read-file.ts')
  return readConfigFile(file, env)
}

/** Takes the registries out of the tree. The code that reads them is loaded only where there are some. */
async function takeRegistries(
  source: Source,
  folder: string,
): Promise<{
  registries: readonly RegistrySettings[]
  notes: readonly Mistake[]
}> {
  const root = valueAt(source.root, ['registries'])
  if (root === undefined) return { registries: [], notes: [] }
  const { readRegistrySettings } = await import('../registry/read-settings.ts')
  const place = placeOf(source, ['registries'])
  const { settings, mistakes } = readRegistrySettings({ ...source, root, place }, folder, ['registries'])
  if (isObject(source.root)) delete source.root.registries
  return { registries: settings ?? [], notes: mistakes }
}

async function findFile({ file, env, cwd }: LoadConfigOptions): Promise<string | undefined> {
  const named = file ?? (env.PURSER_CONFIG || undefined)
  if (named !== undefined) {
    const path = resolve(cwd, named)
    const mistake = await whyUnreadable(path)
    if (mistake === undefined) return path
    const place = { source: file === undefined ? 'PURSER_CONFIG' : '--config' }
    throw new ConfigError([{ path: [], place, ...mistake }])
  }
  for (const name of ['purser.yaml', 'purser.yml']) {
    const path = resolve(cwd, name)
    if (!(await whyUnreadable(path))?.missing) return path
  }
  return undefined
}

/** Line by line, as one goes through the file; what stands elsewhere comes last. */
function inOrder(mistakes: readonly Mistake[]): readonly Mistake[] {
  const lineOf = ({ place }: Mistake) => place?.line ?? Number.POSITIVE_INFINITY
  return mistakes.toSorted((left, right) => Math.sign(lineOf(left) - lineOf(right)) || 0)
}

function deepFreeze<Value>(value: Value): Value {
  if (typeof value === 'object' && value !== null) for (const child of Object.values(value)) deepFreeze(child)
  return Object.freeze(value)
}
