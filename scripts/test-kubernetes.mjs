// npm run test:kubernetes: the suites that need a cluster, or an API server, and nothing else. CONTRIBUTING.md says how to
// have one; what is missing is a failure here.
import { join } from 'node:path'
import { ensureBuilt, root, run } from './setup.mjs'

ensureBuilt()
const env = { ...process.env, RUNTIMES: process.env.RUNTIMES ?? 'process,kubernetes' }
const vitest = join(root, 'node_modules', '.bin', 'vitest')
run(vitest, ['run', '--project', 'kubernetes', '--maxWorkers', '3', ...process.argv.slice(2)], { env })
