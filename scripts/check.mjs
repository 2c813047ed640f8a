// npm run check: everything that can be said about the sources without running them.
import { join } from 'node:path'
import { ensureInstalled, root, run, say } from './setup.mjs'

ensureInstalled()
const bin = name => join(root, 'node_modules', '.bin', name)
const checks = [
  ['types', bin('tsc'), ['--noEmit']],
  ['types of the console', bin('tsc'), ['--noEmit', '-p', 'console']],
  ['format, lint and import cycles', bin('biome'), ['ci', '--error-on-warnings', '.']],
  ['unused code', bin('knip'), []],
  ['architecture and documents', bin('vitest'), ['run', '--project', 'documents', '--maxWorkers', '2']],
  ['build', process.execPath, [join(root, 'scripts', 'build.mjs')]],
  ['package', bin('publint'), []],
]
for (const [name, command, args] of checks) {
  say(`check: ${name}`)
  run(command, args)
}
