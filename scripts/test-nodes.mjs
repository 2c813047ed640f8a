// npm run test:nodes: the core suites on the other versions of Node.js that Purser supports. They come from npm's package
// `node`, and are kept in npm's own cache.
import { spawnSync } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { mayInstall } from './machine.mjs'
import { prepare } from './prepare.mjs'
import { ensureBuilt, fail, root, run, say } from './setup.mjs'
import { inMemory } from './temporary-folder.mjs'

const versions = [22, 24]

/**
 * What depends on the version of Node.js: its HTTP server and client, child processes and signals, timers, node:sqlite (which
 * Node 20 does not have) and the database drivers; and the conformance tests, which go through all of it. Containers,
 * registries, documents and simulations are left out: they run the same code in ways that do not depend on Node.js.
 */
const suites = [
  'src/',
  'test/domain/',
  'test/engine/',
  'test/http/',
  'test/bad-input/',
  'test/conformance/',
  'test/store/memory',
  'test/store/sqlite',
  'test/driver/',
  'test/sandbox/process',
  'test/cli/',
]

/** Their contract makes all calls of the drivers, which are plain JavaScript: the newest version shows enough. */
const databases = ['test/store/postgres.test', 'test/store/mongodb.test']

/** The start of a command line that runs a version. Only from npm's cache where nothing may be installed. */
const nodeOf = version => [
  ...['exec', '--yes', '--loglevel=error', ...(mayInstall ? [] : ['--offline'])],
  ...[`--package=node@${version}`, '--', 'node'],
]

if (!mayInstall) {
  const missing = versions.filter(version => spawnSync('npm', [...nodeOf(version), '--version']).status !== 0)
  const remedies = missing.map(version => `\n  npm exec --yes --package=node@${version} -- node --version`)
  if (missing.length > 0)
    fail(
      `Node.js ${missing.join(' and ')} is not in npm's cache, and PURSER_TEST_INSTALL is no. To have it:${remedies.join('')}`,
    )
}

prepare()
ensureBuilt()
const env = { ...process.env, ...inMemory() }
const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs')
// Many of them wait for a database or a process more than they compute.
const workers = String(Math.max(3, availableParallelism()))
for (const version of versions) {
  say(`tests: Node.js ${version} (the npm package node@${version}, kept in npm's cache)`)
  const wanted = version === versions.at(-1) ? [...suites, ...databases] : suites
  const projects = ['--project', 'fast', '--project', 'databases']
  run('npm', [...nodeOf(version), vitest, 'run', ...projects, '--maxWorkers', workers, ...wanted], { env })
}
