/**
 * A process with one Vitest, which stays open and runs the suites of one mutation after the other: to start one and to compile
 * everything for each of them took most of the time. Is told by messages what to run, and answers each with a `MutatedRun`.
 */
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createVitest, type TestCase, type TestSuite } from 'vitest/node'
import type { Mutation } from './mutation.ts'
import { findMutation } from './plugin.ts'
import type { Watcher } from './watchers.ts'

/** `name` is that of the mutation; absent: no guard is switched off. */
export type Run = Partial<Pick<Mutation, 'name'>> & Pick<Mutation, 'suite' | 'only' | 'hangs'>

/** What became of the tests while a guard was switched off. */
export interface MutatedRun {
  readonly failed: readonly Watcher[]
  readonly passed: number
  /** Files that could not be loaded, tests that were too slow, and errors outside of tests. */
  readonly errors: readonly string[]
}

const root = fileURLToPath(new URL('../..', import.meta.url))

const vitest = await createVitest('test', {
  root,
  watch: false,
  project: ['fast', 'databases', 'systems', 'containers', 'kubernetes'],
  // The first failed test is enough.
  bail: 1,
  // Without a guard some wait for ever. With it, none takes so long.
  testTimeout: 30_000,
  hookTimeout: 60_000,
  maxWorkers: 1,
  // Sooner there than processes.
  pool: 'threads',
  reporters: [{}],
})
await vitest.standalone()

process.on('message', async (run: Run) => process.send?.(await runMutated(run)))

async function runMutated({ name = '', suite, only, hangs }: Run): Promise<MutatedRun> {
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
  const failed = modules.flatMap(module => [...module.children.allTests('failed')])
  const late = hangs ? [] : failed.filter(isLate)
  return {
    failed: failed.filter(test => !late.includes(test)).map(toWatcher),
    passed: modules.flatMap(module => [...module.children.allTests('passed')]).length,
    errors: [
      ...late.map(test => `"${test.fullName}" ran out of time`),
      ...[...unloaded.flatMap(module => module.errors()), ...unhandledErrors].map(toText),
    ],
  }
}

function isLate(test: TestCase): boolean {
  return test.result().errors?.every(({ message }) => message.startsWith('Test timed out')) ?? false
}

function toWatcher(test: TestCase): Watcher {
  return { file: relative(root, test.module.moduleId), test: toFullName(test) }
}

/** As Vitest writes it where it compares it with a pattern. */
function toFullName({ name, parent }: TestCase | TestSuite): string {
  return parent.type === 'module' ? name : `${toFullName(parent)} ${name}`
}

function toText(error: unknown): string {
  return typeof error === 'object' && error !== null && 'message' in error ? String(error.message) : String(error)
}
