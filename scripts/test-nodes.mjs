// npm run test:nodes: what depends on the version of Node.js, on the other ones that Purser supports. They come from npm's package
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
 * What depends on the version of Node.js, each with the tests that go through it. Left out is what runs the same JavaScript whatever
 * the version: decisions, catalogs, bundles, documents, simulations, verbs. So are container engines and clusters, which are other
 * programs.
 */
const suites = [
  // node:http as a server: sockets, headers, bodies, streams, TLS; and the whole protocol through it.
  'test/http/',
  'test/bad-input/body',
  'test/bad-input/connections',
  'test/bad-input/headers',
  'test/conformance/',
  'src/http/',
  // As a client: connections that are kept, proxies, certificates, errors and their codes.
  'test/registry/http',
  'test/registry/proxy',
  'test/registry/oci',
  'test/registry/elsewhere',
  'src/registry/',
  'test/sign-in/',
  'test/cli/client',
  // node:sqlite, which Node 20 does not have: there it is another driver.
  'test/store/sqlite',
  'src/store/',
  // node:crypto: keys, hashes, passwords.
  'test/store/encryption',
  'src/authenticator/',
  // Async hooks, timers, abort signals, errors that nobody handles.
  'test/engine/',
  'test/observer/',
  'src/engine/',
  'src/observer/',
  'src/clock',
  // Child processes, signals, files, terminals.
  'test/sandbox/process',
  'test/sandbox/crash',
  'test/driver/actions',
  'test/driver/durable',
  'test/cli/pager',
  'test/cli/process',
  'test/cli/start-up',
  'test/server/',
  'src/cli/',
  // How values are shown, where secrets must not be.
  'src/sensitive/',
]

/**
 * The drivers of the databases are plain JavaScript, on sockets. How those open, break and are closed is tried on the newest version
 * alone; all that they are asked is tried by the contract of stores, on one version.
 */
const databases = ['test/store/postgres-failures', 'test/store/postgres-tls', 'test/store/mongodb-outage']

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
