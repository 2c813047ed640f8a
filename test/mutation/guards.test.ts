import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import { whyNoMongo } from '../external/mongodb.ts'
import { whyNoPostgres } from '../external/postgres.ts'
import type { MutatedRun, Run } from './mutated-run.ts'
import { mutations } from './mutations.ts'

const missing = { postgres: await whyNoPostgres(), mongodb: await whyNoMongo() }
const idle: ChildProcess[] = []
const started = new Set<ChildProcess>()
/** The end of what each has written to its standard error. */
const said = new WeakMap<ChildProcess, string>()

afterAll(() => {
  for (const child of started) child.kill()
})

it('a guard is on again in the next run', async () => {
  const [first] = mutations
  const suite = first?.suite ?? []
  expect(await runMutated({ name: first?.name, suite })).toMatchObject({ failed: [expect.any(String)] })
  const { failed, passed, errors } = await runMutated({ suite })
  expect({ failed, errors }).toEqual({ failed: [], errors: [] })
  expect(passed).toBeGreaterThan(0)
})

describe.concurrent('a guard switched off turns its suite red', () => {
  it.for(mutations)('$name', async (mutation, { skip }) => {
    const reason = mutation.needs && missing[mutation.needs]
    if (reason !== undefined) skip(reason)
    const { failed, passed, errors } = await runMutated(mutation)
    // A test file that cannot be loaded shows that the mutation is broken, not that a test watches the guard.
    expect(failed.length, `${passed} tests passed, none failed; ${errors.join('; ')}`).toBeGreaterThan(0)
  })
})

/** In a process that is free, or in one more. */
async function runMutated(run: Run): Promise<MutatedRun> {
  const child = idle.pop() ?? startRunner()
  const over = new AbortController()
  try {
    child.send({ name: run.name, suite: run.suite, only: run.only })
    const [answer] = await Promise.race([
      once(child, 'message', over),
      once(child, 'exit', over).then(([code]) => {
        throw new Error(`the process that ran the tests ended with ${code}: ${said.get(child)}`)
      }),
    ])
    idle.push(child)
    return answer
  } finally {
    over.abort()
  }
}

function startRunner(): ChildProcess {
  const file = fileURLToPath(new URL('mutated-run.ts', import.meta.url))
  const child = fork(file, { execArgv: ['--import', 'tsx'], stdio: ['ignore', 'ignore', 'pipe', 'ipc'] })
  child.stderr?.setEncoding('utf8').on('data', text => said.set(child, `${said.get(child) ?? ''}${text}`.slice(-5_000)))
  started.add(child)
  return child
}
