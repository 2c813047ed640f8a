import type { DevEnd } from '../../running/bundles/dev/perform.ts'
import { failure } from '../cli-error.ts'
import type { CliIo } from '../io.ts'
import { renderResult } from '../render/fields.ts'
import { toLine } from '../render/printable.ts'

type TestResults = DevEnd['testResults']

export interface TestRun {
  readonly instance: string
  readonly plan: string
  readonly output: 'json' | 'text'
}

/** Shows what a test that ran to its end has found; a failure where one of its results is one. */
export function concludeTest(io: CliIo, { output, ...about }: TestRun, results: TestResults): void {
  const body = { action: 'test', ...about, passed: !results.some(({ fail }) => fail) }
  if (output === 'text') io.stdout.write(renderTestResults(results) + renderResult(body, output))
  else if (body.passed) io.stdout.write(renderResult({ ...body, results }, output))
  if (body.passed) return
  const failed = results.filter(({ fail }) => fail).map(({ message }) => message || 'a check without a message')
  throw failure(
    { what: 'the test failed', why: failed.join('; '), next: 'Correct the bundle, or its test, and run it again.' },
    { ...body, results },
  )
}

/** A line for each. */
export function renderTestResults(results: TestResults): string {
  return results.map(({ fail, message }) => `${toLine(`${fail ? 'failed' : 'passed'}: ${message}`)}\n`).join('')
}
