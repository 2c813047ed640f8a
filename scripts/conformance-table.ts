import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { renderTable, type Verdict } from '../test/conformance/table/render.ts'
import { readSources, tablePath } from '../test/conformance/table/sources.ts'

/**
 * Runs the conformance tests and writes docs/reference/conformance.md. Ends with 1 where a requirement fails or has
 * neither a test nor an exception; the page is written all the same, and says which.
 */
const root = fileURLToPath(new URL('..', import.meta.url))
const exceptions = join(root, 'test/conformance/exceptions.json')
if (!existsSync(exceptions)) writeFileSync(exceptions, '{}\n')

const page = renderTable(readSources(), toVerdicts(runTests()))
writeFileSync(tablePath, page)
const open = page.split('\n').filter(line => /^\| [A-Z]+-\d.* \| (?:fail|missing) \|$/.test(line))
console.log(`docs/reference/conformance.md is written; ${open.length} requirement(s) fail or have no test.`)
for (const line of open) console.log(line)
process.exitCode = open.length === 0 ? 0 : 1

interface Assertion {
  readonly title: string
  readonly status: string
}

function runTests(): readonly Assertion[] {
  const folder = mkdtempSync(join(tmpdir(), 'conformance-'))
  const file = join(folder, 'results.json')
  try {
    const vitest = join(root, 'node_modules/vitest/vitest.mjs')
    const args = [
      'run',
      'test/conformance',
      '--exclude',
      '**/coverage.test.ts',
      '--reporter=json',
      `--outputFile=${file}`,
    ]
    const { stderr } = spawnSync(process.execPath, [vitest, ...args], { cwd: root, encoding: 'utf8' })
    if (!existsSync(file)) throw new Error(`the conformance tests did not run:\n${stderr}`)
    const { testResults } = JSON.parse(readFileSync(file, 'utf8')) as {
      testResults: readonly { readonly assertionResults: readonly Assertion[] }[]
    }
    return testResults.flatMap(result => result.assertionResults)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** A requirement passes when every test that carries its id has; a skipped test shows nothing. */
function toVerdicts(tests: readonly Assertion[]): ReadonlyMap<string, Verdict> {
  const verdicts = new Map<string, Verdict>()
  for (const { title, status } of tests) {
    const id = title.split(' ', 1)[0] ?? ''
    verdicts.set(id, status === 'passed' && verdicts.get(id) !== 'fail' ? 'pass' : 'fail')
  }
  return verdicts
}
