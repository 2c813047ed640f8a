// npm test: sets everything up, then runs the checks and every test, fast ones first. `--long` runs more seeds,
// `--without-kubernetes` leaves out what `npm run test:kubernetes` runs.
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
  kubernetes: 2,
}
// What the checks have run is not run again.
const done = documents.flatMap(files => ['--exclude', files])
for (const [project, count] of Object.entries(workers)) {
  if (project === 'kubernetes' && process.argv.includes('--without-kubernetes')) continue
  say(`tests: ${project}`)
  run(vitest, ['run', '--project', project, '--maxWorkers', String(count), ...done], { env })
}
