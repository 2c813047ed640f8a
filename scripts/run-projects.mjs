import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { root, run, say } from './setup.mjs'
import { inMemory } from './temporary-folder.mjs'

/** Of tests that wait for a database or a process more than they compute, and of those that are several processes each. */
const workers = {
  light: Math.max(4, availableParallelism()),
  heavy: Math.max(3, Math.floor(availableParallelism() / 2)),
}

/**
 * Runs projects of vitest.config.ts, one after the other.
 *
 * @param {Record<string, 'light' | 'heavy'>} projects by their names
 * @param {{ args?: string[], env?: Record<string, string> }} options
 */
export function runProjects(projects, { args = [], env = {} } = {}) {
  const vitest = join(root, 'node_modules', '.bin', 'vitest')
  const given = { ...process.env, ...env, ...inMemory() }
  for (const [project, kind] of Object.entries(projects)) {
    say(`tests: ${project}`)
    run(vitest, ['run', '--project', project, '--maxWorkers', String(workers[kind]), ...args], { env: given })
  }
}
