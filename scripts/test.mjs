// npm test: sets everything up, then runs the checks and the tests, fast ones first; `--long` runs more seeds. What needs a
// container engine or a cluster is run by `npm run test:containers` and `npm run test:kubernetes`.
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { documents } from './documents.mjs'
import { prepare } from './prepare.mjs'
import { ensureBuilt, root, run, say } from './setup.mjs'
import { inMemory } from './temporary-folder.mjs'

prepare()
run(process.execPath, [join(root, 'scripts', 'check.mjs')])
ensureBuilt()
const long = process.argv.includes('--long')
const env = { ...process.env, ...(long ? { PURSER_TEST_LONG: '1' } : {}), ...inMemory() }
const vitest = join(root, 'node_modules', '.bin', 'vitest')
// Many of them wait for a database or a process more than they compute.
const workers = {
  fast: Math.max(4, availableParallelism()),
  slow: Math.max(3, Math.floor(availableParallelism() / 2)),
}
// What the checks have run is not run again.
const done = documents.flatMap(files => ['--exclude', files])
for (const [project, count] of Object.entries(workers)) {
  say(`tests: ${project}`)
  run(vitest, ['run', '--project', project, '--maxWorkers', String(count), ...done], { env })
}
