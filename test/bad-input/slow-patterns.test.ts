import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

const script = fileURLToPath(new URL('./slow-patterns.ts', import.meta.url))

it('a pattern that takes years on the usual engine is matched, wherever it comes from', {
  timeout: 90_000,
}, async () => {
  const args = ['--import', 'tsx', script]
  const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: 60_000, killSignal: 'SIGKILL' })
  expect(stdout.trim().split('\n')).toEqual([
    'a default in a list 1',
    'a default in a schema 1',
    'a user, by a list true',
    'a user, by a schema true',
    'a name of a registry false',
  ])
})
