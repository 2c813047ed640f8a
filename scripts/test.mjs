// npm test: sets everything up, then runs the checks and every test, fast ones first. `--long` runs more seeds.
import { join } from 'node:path'
import { ensureBuilt, ensureInstalled, root, run, say } from './setup.mjs'

ensureInstalled()
run(process.execPath, [join(root, 'scripts', 'check.mjs')])
ensureBuilt()
const long = process.argv.includes('--long')
const env = { ...process.env, ...(long ? { PURSER_TEST_LONG: '1' } : {}) }
const vitest = join(root, 'node_modules', '.bin', 'vitest')
for (const project of ['fast', 'slow']) {
  say(`tests: ${project}`)
  run(vitest, ['run', '--project', project], { env })
}
