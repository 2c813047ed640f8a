// npm run test:containers: the suites that need a container engine: Podman, Docker where it is named, and buildah.
import { prepare } from './prepare.mjs'
import { runProjects } from './run-projects.mjs'
import { ensureBuilt } from './setup.mjs'

prepare()
ensureBuilt()
runProjects({ containers: 'heavy' }, { args: process.argv.slice(2) })
