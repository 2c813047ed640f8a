/**
 * A process with one Vitest, which stays open and runs the suites of one mutation after the other: to start one and to compile
 * everything for each of them took most of the time. Is told by messages what to run, and answers each with a `MutatedRun`.
 */
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createVitest } from 'vitest/node'
import type { Mutation } from './mutation.ts'
import { findMutation } from './plugin.ts'

/** `name` is that of the mutation; absent: no guard is switched off. */
export type Run = Partial<Pick<Mutation, 'name'>> & Pick<Mutation, 'suite' | 'only'>

/** What became of the tests while a guard was switched off. */
export interface MutatedRun {
  readonly failed: readonly string[]
  readonly passed: number
  /** Files that could not be loaded, and errors outside of tests. */
  readonly errors: readonly string[]
}

const root = fileURLToPath(new URL('../..', import.meta.url))

const vitest = await createVitest('test', {
  root,
  watch: false,
  project: ['fast', 'containers', 'kubernetes'],
  // The first failed test is enough.
  bail: 1,
  // Without a guard some wait for ever. With it, none takes so long.
  testTimeout: 30_000,
  maxWorkers: 1,
  reporters: [{}],
})
await vitest.standalone()

process.on('message', async (run: Run) => process.send?.(await runMutated(run)))

async function runMutated({ name = '', suite, only }: Run): Promise<MutatedRun> {
  const files = suite.map(path => join(root, path))
  const changed = findMutation(name)?.file
  process.env.MUTATION = name
  if (changed !== undefined) vitest.invalidateFile(join(root, changed))
  if (only === undefined) vitest.resetGlobalTestNamePattern()
  else vitest.setGlobalTestNamePattern(only)
  const { testModules, unhandledErrors } = await vitest.runTestSpecifications(
    files.flatMap(file => vitest.getModuleSpecifications(file)),
  )
  // The next run finds it as it is.
  if (changed !== undefined) vitest.invalidateFile(join(root, changed))
  const modules = testModules.filter(({ moduleId }) => files.includes(moduleId))
  const unloaded = modules.filter(module => !module.ok() && [...module.children.allTests()].length === 0)
  return {
    failed: modules.flatMap(module => [...module.children.allTests('failed')].map(test => test.fullName)),
    passed: modules.flatMap(module => [...module.children.allTests('passed')]).length,
    errors: [...unloaded.flatMap(module => module.errors()), ...unhandledErrors].map(toText),
  }
}

function toText(error: unknown): string {
  return typeof error === 'object' && error !== null && 'message' in error ? String(error.message) : String(error)
}
