// npm test: sets everything up, then runs the checks and every test, fast ones first. `--long` runs more seeds,
// `--without-kubernetes` leaves out what `npm run test:kubernetes` runs.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { documents } from './documents.mjs'
import { prepare } from './prepare.mjs'
import { ensureBuilt, fail, root, run, say } from './setup.mjs'
import { inMemory } from './temporary-folder.mjs'

prepare()
run(process.execPath, [join(root, 'scripts', 'check.mjs')])
ensureBuilt()
const long = process.argv.includes('--long')
const env = { ...process.env, ...(long ? { PURSER_TEST_LONG: '1' } : {}), ...inMemory() }
// Many of them wait for a database or a process more than they compute.
const workers = {
  fast: Math.max(3, availableParallelism()),
  slow: Math.max(3, Math.floor(availableParallelism() / 2)),
  kubernetes: 3,
}

// Slow tests wait more than they compute, so they run beside the fast ones. What they print comes after.
say('tests: fast, and slow beside them')
const folder = mkdtempSync(join(tmpdir(), 'purser-test-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
const output = join(folder, 'slow')
const slow = startTests('slow', openSync(output, 'w'))
if ((await startTests('fast', 'inherit')) !== 0) fail('fast tests have failed; the slow ones were not waited for')
say('tests: slow')
const code = await slow
process.stdout.write(readFileSync(output))
if (code !== 0) process.exit(1)
if (!process.argv.includes('--without-kubernetes')) {
  say('tests: kubernetes')
  process.exitCode = await startTests('kubernetes', 'inherit')
}

/** Ends with the exit code, or when this process does. */
async function startTests(project, stdio) {
  // What the checks have run is not run again.
  const done = documents.flatMap(files => ['--exclude', files])
  const args = ['run', '--project', project, '--maxWorkers', String(workers[project]), ...done]
  const tests = spawn(join(root, 'node_modules', '.bin', 'vitest'), args, {
    cwd: root,
    env,
    stdio: ['ignore', stdio, stdio],
  })
  const end = () => tests.kill()
  process.on('exit', end)
  const [status] = await once(tests, 'exit')
  process.off('exit', end)
  return status ?? 1
}
