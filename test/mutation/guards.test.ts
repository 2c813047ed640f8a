import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { whyNoMongo } from '../external/mongodb.ts'
import { whyNoPostgres } from '../external/postgres.ts'
import { type Mutation, mutations } from './mutations.ts'
import { applyMutation } from './plugin.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs')

const named = mutations.map(mutation => [mutation.name, mutation] as const)
/**
 * All of them in the long run. Otherwise a quarter, and another quarter whenever the file that they change is changed: a guard
 * that is edited has the best chance to be tried.
 */
function isDue({ name, file }: Mutation): boolean {
  if (process.env.PURSER_TEST_LONG === '1') return true
  const hash = createHash('sha256')
    .update(name)
    .update(readFileSync(join(root, file)))
  return hash.digest().readUInt32BE(0) % 4 === 0
}

const missing = { postgres: await whyNoPostgres(), mongodb: await whyNoMongo() }

describe('guards', () => {
  it.each(named)('%s: the text is there, once, and has a name of its own', (_, mutation) => {
    const source = readFileSync(join(root, mutation.file), 'utf8')
    expect(applyMutation(source, mutation)).not.toBe(source)
    expect(source.split(mutation.find)).toHaveLength(2)
    expect(mutations.filter(({ name }) => name === mutation.name)).toHaveLength(1)
  })

  describe.concurrent('switched off, the tests turn red', () => {
    it.for(named.filter(([, mutation]) => isDue(mutation)))('%s', async ([, mutation], { onTestFinished, skip }) => {
      const reason = mutation.needs && missing[mutation.needs]
      if (reason !== undefined) skip(reason)
      const folder = mkdtempSync(join(tmpdir(), 'purser-mutation-'))
      onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
      const { code, output, report } = await runMutated(mutation, join(folder, 'report.json'))
      expect(code, output).toBe(1)
      expect(report?.numFailedTests, output).toBeGreaterThan(0)
      // A file that could not even be loaded shows that the mutation is broken, not that the guard is watched. One that has
      // not failed was not reached any more.
      for (const { status, assertionResults } of report?.testResults ?? [])
        if (status === 'failed') expect(assertionResults.length, output).toBeGreaterThan(0)
    })
  })
})

interface Report {
  readonly numFailedTests: number
  readonly testResults: readonly { readonly status: string; readonly assertionResults: readonly unknown[] }[]
}

/** One failed test is enough. */
function runMutated(
  { name, suite, only }: Mutation,
  file: string,
): Promise<{ readonly code: number; readonly output: string; readonly report?: Report }> {
  const options = ['--project', 'fast', '--bail', '1', '--reporter', 'json', '--outputFile', file]
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
