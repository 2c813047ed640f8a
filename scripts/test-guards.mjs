// npm run test:guards: switches off every guard of test/mutation and test/storm in turn, and expects that a test fails each time.
// `npm run test:guards -- -t fence` tries only those whose names match. `--record` writes to test/mutation/watchers.json which
// test has failed, for guards whose recorded test does not fail, or that have none. `--long` also tries that all recorded tests pass
// while the guards are on.
import { join } from 'node:path'
import { prepare } from './prepare.mjs'
import { ensureBuilt, root, run, say } from './setup.mjs'
import { inMemory } from './temporary-folder.mjs'

prepare()
ensureBuilt()
say('tests: guards')
const vitest = join(root, 'node_modules', '.bin', 'vitest')
// Each is told as it ends: all of them take long.
const own = { '--record': { RECORD_WATCHERS: 'yes' }, '--long': { CHECK_WATCHERS: 'yes' } }
const args = process.argv.slice(2)
const env = { ...process.env, ...inMemory() }
for (const [arg, variables] of Object.entries(own)) if (args.includes(arg)) Object.assign(env, variables)
const others = args.filter(arg => !(arg in own))
run(vitest, ['run', '--project', 'guards', '--reporter', 'verbose', ...others], { env })
