/**
 * A process with one Vitest, which stays open and runs the suites of one mutation after the other, in a thread that keeps what it has
 * loaded: to start, compile and load everything for each of them took most of the time. Only the changed file and all that have
 * loaded it are loaded anew. Is told by messages what to run, and answers each with a `MutatedRun`.
 */
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createVitest, type TestCase, type TestProject, type TestSuite } from 'vitest/node'
import type { Mutation } from './mutation.ts'
import { findMutation } from './plugin.ts'
import { endWarmThreads, warmThreads } from './warm-threads.ts'
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
  pool: warmThreads,
  reporters: [{}],
})
await vitest.standalone()

process.on('message', async (run: Run) => process.send?.(await runMutated(run)))

/** The file that was changed in the last run of each project, and may still be loaded as it was there. */
const changedBefore = new Map<TestProject, string>()

async function runMutated({ name = '', suite, only, hangs }: Run): Promise<MutatedRun> {
  const files = suite.map(path => join(root, path))
  const testNamePattern = only === undefined ? undefined : new RegExp(only)
  const specifications = files
    .flatMap(file => vitest.getModuleSpecifications(file))
    .map(({ project, moduleId }) => project.createSpecification(moduleId, { testNamePattern }))
  const mutation = findMutation(name)
  const changed = mutation && join(root, mutation.file)
  process.env.MUTATION = name
  for (const { project } of specifications) {
    for (const file of [changedBefore.get(project), changed]) if (file !== undefined) loadAnew(file, project)
    if (changed === undefined) changedBefore.delete(project)
    else changedBefore.set(project, changed)
  }
  const { testModules, unhandledErrors } = await vitest.runTestSpecifications(specifications)
  const modules = testModules.filter(({ moduleId }) => files.includes(moduleId))
  const unloaded = modules.filter(module => !module.ok() && [...module.children.allTests()].length === 0)
  const failed = modules.flatMap(module => [...module.children.allTests('failed')])
  const late = hangs ? [] : failed.filter(isLate)
  // What it waited for may come yet, and would disturb the next one.
  if (failed.some(isLate) || unloaded.length + unhandledErrors.length > 0) await endWarmThreads()
  return {
    failed: failed.filter(test => !late.includes(test)).map(toWatcher),
    passed: modules.flatMap(module => [...module.children.allTests('passed')]).length,
    errors: [
      ...late.map(test => `"${test.fullName}" ran out of time`),
      ...[...unloaded.flatMap(module => module.errors()), ...unhandledErrors].map(toText),
    ],
  }
}

/** With all that have loaded it, directly or not: they hold on to what they were given. */
function loadAnew(file: string, project: TestProject): void {
  const { invalidates } = vitest.watcher
  vitest.invalidateFile(file)
  const added = [file]
  for (const path of added) {
    if (invalidates.has(path)) continue
    invalidates.add(path)
    for (const { moduleGraph } of Object.values(project.vite.environments))
      for (const module of moduleGraph.getModulesByFile(path) ?? [])
        for (const importer of module.importers) if (importer.file !== null) added.push(importer.file)
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
