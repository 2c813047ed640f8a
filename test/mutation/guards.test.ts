import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { whyNoApiServer } from '../external/kubernetes.ts'
import { whyNoMongo } from '../external/mongodb.ts'
import { whyNoPostgres } from '../external/postgres.ts'
import { lendServers } from '../external/shared-servers.ts'
import type { Run } from './mutated-run.ts'
import { type Mutation, mutations } from './mutations.ts'
import { endRunners, runMutated } from './runners.ts'
import { findWatcher, recorded, recordWatchers, type Watcher } from './watchers.ts'

const missing = { postgres: await whyNoPostgres(), mongodb: await whyNoMongo(), apiServer: whyNoApiServer() }
/** What watchers.json does not say, or says wrongly. */
const unrecorded = new Map<string, Watcher>()

let endServers: (() => Promise<void>) | undefined

// Each process that runs them would start servers of its own.
beforeAll(async () => {
  endServers = await lendServers({ postgres: missing.postgres === undefined, mongodb: missing.mongodb === undefined })
})

afterAll(async () => {
  endRunners()
  await endServers?.()
  if (unrecorded.size === 0) return
  if (process.env.RECORD_WATCHERS === 'yes') recordWatchers(unrecorded)
  else console.warn(`watchers.json is out of date for ${unrecorded.size} guards: npm run test:guards -- --record`)
})

it('a guard is on again in the next run', async () => {
  const [[file, watched = {}] = ['']] = Object.entries(recorded)
  const [[name, test] = ['', '']] = Object.entries(watched)
  const run = onlyTests(file, [test])
  expect(await runMutated({ ...run, name })).toMatchObject({ failed: [{ file, test }] })
  const { failed, passed, errors } = await runMutated(run)
  expect({ failed, errors }).toEqual({ failed: [], errors: [] })
  expect(passed).toBeGreaterThan(0)
})

describe.concurrent('a guard switched off turns its suite red', () => {
  // The whole name, by which -t finds it: $name would be cut off.
  it.for(mutations.map(mutation => [mutation.name, mutation] as const))('%s', async ([, mutation], { skip }) => {
    const reason = mutation.needs && missing[mutation.needs]
    if (reason !== undefined) skip(reason)
    if (await isSeenByItsWatcher(mutation)) return
    const { failed, passed, errors } = await runMutated(mutation)
    // A test file that cannot be loaded shows that the mutation is broken, not that a test watches the guard.
    expect(failed.length, `${passed} tests passed, none failed; ${errors.join('; ')}`).toBeGreaterThan(0)
    const [watcher] = failed
    if (watcher !== undefined && (await passesAlone(watcher))) unrecorded.set(mutation.name, watcher)
  })
})

// A test that fails anyway watches nothing. That is seen when it is recorded, and whenever the tests themselves are run; here, which
// takes as long as a third of the guards, only where there is time.
describe.runIf(process.env.CHECK_WATCHERS === 'yes').concurrent('what watches a guard passes while it is on', () => {
  it.for(Object.entries(recorded))('%s', async ([file, watched]) => {
    // One that is slow here may be so on a busy machine. Where that is taken for a guard that is off, it must not be.
    const hangs = mutations.find(mutation => mutation.hangs && mutation.name in watched)?.hangs
    const { failed } = await runMutated({ ...onlyTests(file, Object.values(watched)), hangs })
    expect(failed).toEqual([])
  })
})

/** With the guard on. One that needs the tests before it does not, and cannot be recorded. */
async function passesAlone({ file, test }: Watcher): Promise<boolean> {
  const { failed } = await runMutated(onlyTests(file, [test]))
  return failed.length === 0
}

/** The recorded test alone, as most suites take far longer. It counts only if it fails again. */
async function isSeenByItsWatcher(mutation: Mutation): Promise<boolean> {
  const watcher = findWatcher(mutation)
  if (watcher === undefined) return false
  const { failed } = await runMutated({ ...mutation, ...onlyTests(watcher.file, [watcher.test]) })
  return failed.length > 0
}

function onlyTests(file: string, tests: readonly string[]): Run {
  const patterns = tests.map(test => test.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'))
  return { suite: [file], only: `^(${patterns.join('|')})$` }
}
