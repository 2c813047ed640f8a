// npm test: sets everything up, then runs the checks and every test, fast ones first. `--long` runs more seeds.
import { chmodSync, mkdtempSync, rmSync, statfsSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { ensureDebianPackages } from './debian-packages.mjs'
import { documents } from './documents.mjs'
import { ensureBuilt, ensureInstalled, root, run, say } from './setup.mjs'

ensureInstalled()
ensureDebianPackages()
run(process.execPath, [join(root, 'scripts', 'check.mjs')])
ensureBuilt()
const long = process.argv.includes('--long')
const env = { ...process.env, ...(long ? { PURSER_TEST_LONG: '1' } : {}), ...inMemory() }
const vitest = join(root, 'node_modules', '.bin', 'vitest')
// Many of them wait for a database or a process more than they compute.
const workers = { fast: Math.max(3, availableParallelism()), slow: Math.max(3, Math.floor(availableParallelism() / 2)) }
// What the checks have run is not run again.
const done = documents.flatMap(files => ['--exclude', files])
for (const [project, count] of Object.entries(workers)) {
  say(`tests: ${project}`)
  run(vitest, ['run', '--project', project, '--maxWorkers', String(count), ...done], { env })
}

/** Databases of tests die with their processes, never with the machine: where memory serves as a disk, it is much faster. */
function inMemory() {
  if (process.env.TMPDIR !== undefined) return {}
  try {
    const { bavail, bsize } = statfsSync('/dev/shm')
    if (bavail * bsize < 4 * 1024 ** 3) return {}
    // Short: Podman takes no long paths.
    const folder = mkdtempSync('/dev/shm/pt-')
    // As /tmp is: databases and bundles run as other users.
    chmodSync(folder, 0o1777)
    process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
    return { TMPDIR: folder }
  } catch {
    return {}
  }
}
