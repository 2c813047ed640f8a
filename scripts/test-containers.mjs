// npm run test:containers: the suites that need a container engine: Podman, Docker where it is named, and buildah.
import { join } from 'node:path'
import { prepare } from './prepare.mjs'
import { ensureBuilt, root, run, say } from './setup.mjs'
import { inMemory } from './temporary-folder.mjs'

prepare()
ensureBuilt()
say('tests: containers')
const vitest = join(root, 'node_modules', '.bin', 'vitest')
const env = { ...process.env, ...inMemory() }
run(vitest, ['run', '--project', 'containers', '--maxWorkers', '3', ...process.argv.slice(2)], { env })
