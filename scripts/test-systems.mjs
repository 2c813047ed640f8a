// npm run test:systems: MongoDB, databases under load and in trouble, replicas, moves from one store to another, and whole brokers as people run
// them: marketplaces, samples, the console in a browser.
import { prepare } from './prepare.mjs'
import { runProjects } from './run-projects.mjs'
import { ensureBuilt } from './setup.mjs'

prepare()
ensureBuilt()
runProjects({ databases: 'light', systems: 'heavy' }, { args: process.argv.slice(2) })
