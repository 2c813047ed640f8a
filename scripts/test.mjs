// npm test: sets everything up, then runs the checks and the tests, fast ones first; `--long` runs more seeds. Whole systems are
// run by `npm run test:systems`, and what needs a container engine or a cluster by `npm run test:containers` and
// `npm run test:kubernetes`.
import { join } from 'node:path'
import { prepare } from './prepare.mjs'
import { runProjects } from './run-projects.mjs'
import { ensureBuilt, root, run } from './setup.mjs'

prepare()
run(process.execPath, [join(root, 'scripts', 'check.mjs')])
ensureBuilt()
const env = process.argv.includes('--long') ? { PURSER_TEST_LONG: '1' } : {}
runProjects({ fast: 'light', slow: 'heavy' }, { env })
