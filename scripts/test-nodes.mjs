// npm run test:nodes: the core suites on the other versions of Node.js that Purser supports. They come from npm's package
// `node`, and are kept in npm's own cache.
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { prepare } from './prepare.mjs'
import { ensureBuilt, root, run, say } from './setup.mjs'
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
  'test/store/',
  'test/driver/',
  'test/sandbox/process',
  'test/cli/',
]

prepare()
ensureBuilt()
const env = { ...process.env, ...inMemory() }
const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs')
// Many of them wait for a database or a process more than they compute.
const workers = String(Math.max(3, availableParallelism()))
for (const version of versions) {
  say(`tests: Node.js ${version} (the npm package node@${version}, kept in npm's cache)`)
  const node = ['exec', '--yes', '--loglevel=error', `--package=node@${version}`, '--', 'node']
  run('npm', [...node, vitest, 'run', '--project', 'fast', '--maxWorkers', workers, ...suites], { env })
}
