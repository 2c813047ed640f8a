import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { whyNoMongo } from '../external/mongodb.ts'
import { whyNoPostgres } from '../external/postgres.ts'
import { type Mutation, mutations } from './mutations.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs')

const missing = { postgres: await whyNoPostgres(), mongodb: await whyNoMongo() }

describe.concurrent('a guard switched off turns its suite red', () => {
  it.for(mutations)('$name', async (mutation, { onTestFinished, skip }) => {
    const reason = mutation.needs && missing[mutation.needs]
    if (reason !== undefined) skip(reason)
    const folder = mkdtempSync(join(tmpdir(), 'purser-mutation-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const { code, output, report } = await runMutated(mutation, join(folder, 'report.json'))
    expect(code, output).toBe(1)
    expect(report?.numFailedTests, output).toBeGreaterThan(0)
    // A test file that cannot be loaded shows that the mutation is broken, not that a test watches the guard.
    for (const { status, assertionResults } of report?.testResults ?? [])
      if (status === 'failed') expect(assertionResults.length, output).toBeGreaterThan(0)
  })
})

interface Report {
  readonly numFailedTests: number
  readonly testResults: readonly { readonly status: string; readonly assertionResults: readonly unknown[] }[]
}

/** Stops at the first failed test. */
function runMutated(
  { name, suite, only }: Mutation,
  file: string,
): Promise<{ readonly code: number; readonly output: string; readonly report?: Report }> {
  const project = suite.some(path => path.startsWith('test/kubernetes/')) ? 'kubernetes' : 'fast'
  const options = ['--project', project, '--bail', '1', '--reporter', 'json', '--outputFile', file]
  const args = [vitest, 'run', ...options, ...(only === undefined ? [] : ['-t', only]), ...suite]
  const env = { ...process.env, MUTATION: name }
  return new Promise(resolve => {
    execFile(process.execPath, args, { cwd: root, env, maxBuffer: 2 ** 26 }, (error, stdout, stderr) => {
      const code = error === null ? 0 : Number(error.code)
      resolve({ code, output: stdout + stderr, ...readReport(file) })
    })
  })
}

function readReport(file: string): { readonly report?: Report } {
  try {
    return { report: JSON.parse(readFileSync(file, 'utf8')) }
  } catch {
    return {}
  }
}
