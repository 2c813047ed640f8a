// What every test script does first: it says what is missing, and installs it where that is possible without asking.
import { spawnSync } from 'node:child_process'
import { lookAtMachine, mayInstall } from './machine.mjs'
import { describeMissing, findMissing } from './needs.mjs'
import { ensureInstalled, fail, isInstalled, say } from './setup.mjs'

/** MongoDB and PostgreSQL are downloaded by the first test that needs them. */
export function prepare() {
  const missing = findMissing(lookAtMachine())
  for (const line of describeMissing(missing, mayInstall)) say(line)
  if (mayInstall) {
    ensureInstalled()
    installDebianPackages(missing.flatMap(({ where, debian = [] }) => (where === undefined ? [] : debian)))
  } else if (!isInstalled()) fail('without its npm packages nothing can be tested: run "npm ci"')
}

function installDebianPackages(packages) {
  if (packages.length === 0) return
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  const apt = (...args) => spawnSync('apt-get', ['-qq', ...args], { env, stdio: ['ignore', 'ignore', 'inherit'] })
  apt('update')
  const { status } = apt('install', '-y', '--no-install-recommends', ...packages)
  if (status !== 0) say('some Debian packages could not be installed; the tests that need them are left out')
}
