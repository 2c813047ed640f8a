import { describe, expect, it } from 'vitest'
import { createTestIo } from '../../../test/cli/test-io.ts'
import { concludeTest } from './test-results.ts'

const about = { instance: 'dev', plan: 'small', output: 'text' } as const

describe('the results of a test', () => {
  it('have passed where none has failed, and where there are none', () => {
    const io = createTestIo()
    concludeTest(io, about, [{ fail: false, message: 'it answers' }])
    concludeTest(io, about, [])
    expect(io.out()).toMatch(/^passed: it answers\naction.*passed {4}true\naction.*passed {4}true\n$/s)
  })

  it('have failed where one has, whatever comes after it', () => {
    const results = [
      { fail: true, message: 'no\u001b[31m answer' },
      { fail: false, message: 'it answers' },
    ]
    const io = createTestIo()
    expect(() => concludeTest(io, about, results)).toThrow('the test failed: no')
    expect(io.out()).toMatch(/^failed: no \[31m answer\npassed: it answers\n/)
  })
})
