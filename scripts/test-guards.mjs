// npm run test:guards: switches off every guard of test/mutation and test/storm in turn, and expects that a test fails each time.
// `npm run test:guards -- -t fence` tries only those whose names match.
import { join } from 'node:path'
import { prepare } from './prepare.mjs'
import { root, run, say } from './setup.mjs'
import { inMemory } from './temporary-folder.mjs'

prepare()
say('tests: guards')
const vitest = join(root, 'node_modules', '.bin', 'vitest')
// Each is told as it ends: all of them take long.
run(vitest, ['run', '--project', 'guards', '--reporter', 'verbose', ...process.argv.slice(2)], {
  env: { ...process.env, ...inMemory() },
})
