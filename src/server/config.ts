import { readFile } from 'node:fs/promises'
import { basename, dirname, resolve } from 'node:path'
import type { RegistrySettings } from '../registry/settings.ts'
import { moveSecrets } from './config/automation-broker-secrets.ts'
import { resolveFiles, whyUnreadable } from './config/files.ts'
import { keysOfSection } from './config/known-settings.ts'
import { ConfigError, type Mistake } from './config/mistake.ts'
import { applyOverrides, type ConfigFlags } from './config/overrides.ts'
import { checkPatterns } from './config/patterns.ts'
import { type Environment, substitute } from './config/placeholders.ts'
import { takeRegistries } from './config/registries.ts'
import { asSpringReads, isSpringFile, readSpring } from './config/spring.ts'
import { resolveStoreUrl } from './config/store-url.ts'
import { getIn, isTree, type Origins, setIn, type Tree } from './config/tree.ts'
import { type Settings, validate } from './config/validate.ts'
import type { YamlSource } from './config/yaml-source.ts'

export { ConfigError } from './config/mistake.ts'
export type { ConfigFlags } from './config/overrides.ts'
export { maskStoreUrl } from './config/store-url.ts'

/** Everything that can be set, complete and checked. Times are milliseconds, sizes bytes, paths absolute. */
export type Config = DeepReadonly<Omit<Settings, 'registries'>> & {
  readonly registries: readonly RegistrySettings[]
  /** What is allowed and hardly meant, a line each, for the log. */
  readonly warnings: readonly string[]
  /** The file that was read, if there was one. */
  readonly file?: string
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
  const { tree, origins, mistakes } = await readFileSettings(file, env)
  mistakes.push(...applyOverrides(tree, origins, { env, flags, cwd }))
  applyLogFormat(tree, terminal)
  moveSecrets(tree)
  const { registries, warnings, mistakes: ofRegistries } = await takeRegistries(tree, origins, cwd)
  mistakes.push(...ofRegistries)
  mistakes.push(...(await resolveFiles(tree, origins, cwd)), ...(await checkPatterns(tree, origins)))
  const checked = validate(tree, origins)
  if ('mistakes' in checked) {
    const known = new Set(mistakes.map(({ path }) => path).filter(path => path !== undefined))
    mistakes.push(...checked.mistakes.filter(({ path }) => path === undefined || !known.has(path)))
  }
  if (mistakes.length > 0 || !('settings' in checked)) throw new ConfigError(mistakes)
  const { settings } = checked
  return deepFreeze({
    ...settings,
    store: resolveStoreUrl(settings.store, cwd),
    bundles: {
      ...settings.bundles,
      folder: resolve(file === undefined ? cwd : dirname(file), settings.bundles.folder),
    },
    registries,
    warnings,
    file,
  })
}

type DeepReadonly<Value> = Value extends object ? { readonly [Key in keyof Value]: DeepReadonly<Value[Key]> } : Value

async function findFile({ file, env, cwd }: LoadConfigOptions): Promise<string | undefined> {
  const named = file ?? (env.PURSER_CONFIG || undefined)
  if (named !== undefined) {
    const path = resolve(cwd, named)
    const reason = await whyUnreadable(path)
    if (reason === undefined) return path
    const where = file === undefined ? 'PURSER_CONFIG' : '--config'
    throw new ConfigError([{ where, problem: `found ${path}, which ${reason}; correct the path` }])
  }
  for (const name of ['purser.yaml', 'purser.yml']) {
    const path = resolve(cwd, name)
    if ((await whyUnreadable(path)) !== 'does not exist') return path
  }
  return undefined
}

interface FileSettings {
  readonly tree: Tree
  readonly origins: Origins
  readonly mistakes: Mistake[]
}

async function readFileSettings(file: string | undefined, env: Environment): Promise<FileSettings> {
  if (file === undefined) return { tree: {}, origins: new Map(), mistakes: [] }
  const name = basename(file)
  let text: string
  try {
    text = await readFile(file, 'utf8')
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown'
    throw new ConfigError([
      { where: name, problem: `${file} cannot be read (${code}); correct it, or name another with --config` },
    ])
  }
  // The parser is a large part of a start, and most brokers are configured by their environment.
  const { readYaml } = await import('./config/yaml-source.ts')
  return understand(readYaml(text, name), file, env)
}

/** What the file means for us: Spring's names become ours, and placeholders what the environment says. */
function understand(source: YamlSource, file: string, env: Environment): FileSettings {
  const [name, folder] = [basename(file), dirname(file)]
  const origins: Origins = new Map(
    [...source.lines].map(([path, line]) => [path, { where: `${name}:${line}`, folder }]),
  )
  let { tree } = source
  let mistakes = [...source.mistakes]
  let patterns: readonly (readonly string[])[] = []
  if (isSpringFile(tree)) {
    const spring = readSpring(tree, { top: [...keysOfSection([]), 'registry'], server: keysOfSection(['server']) })
    tree = spring.tree
    patterns = spring.patterns
    for (const [from, to] of spring.moved) origins.set(to, origins.get(from) ?? { where: name, folder })
    if (spring.hasCatalog && tree.catalog === undefined) {
      tree.catalog = file
      origins.set('catalog', origins.get('spring') ?? { where: name, folder })
    }
    mistakes = mistakes.filter(({ path }) => path === undefined || Object.hasOwn(tree, path.split(/[.[]/)[0] ?? ''))
  }
  const substituted = substitute(tree, env, (path, variable) => {
    const problem = `the environment variable ${variable} is not set; set it, or write a default: \${${variable}:default}`
    mistakes.push({ where: origins.get(path)?.where ?? name, path, problem })
  })
  const settings = isTree(substituted) ? substituted : {}
  for (const path of patterns) setIn(settings, path, asSpringReads(getIn(settings, path)))
  return { tree: settings, origins, mistakes }
}

function applyLogFormat(tree: Tree, terminal: boolean): void {
  tree.log ??= {}
  if (isTree(tree.log)) tree.log.format ??= terminal ? 'people' : 'json'
}

function deepFreeze<Value>(value: Value): Value {
  if (typeof value === 'object' && value !== null) for (const child of Object.values(value)) deepFreeze(child)
  return Object.freeze(value)
}
