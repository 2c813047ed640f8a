import { expect, it } from 'vitest'
import { OsbConnectionError } from '../client/connection-error.ts'
import { StartError } from '../running/start-error.ts'
import { failure, wrongUsage } from './cli-error.ts'
import { describeError } from './describe-error.ts'
import { createStyle } from './render/style.ts'

const plain = createStyle(false)
const parts = { what: 'a', why: 'b', next: 'c' }
const threeLines = 'error: a\n  why: b\n next: c\n'

it('errors that know what, why and next are three lines', () => {
  expect(describeError(failure(parts), plain)).toEqual({ text: threeLines, exitCode: 1 })
  expect(describeError(wrongUsage(parts), plain)).toEqual({ text: threeLines, exitCode: 2 })
  expect(describeError(new StartError('a', 'b', 'c'), plain)).toEqual({ text: threeLines, exitCode: 2 })
  expect(describeError(new OsbConnectionError('GET http://h', 'b', 'c'), plain)).toEqual({
    text: 'error: the broker could not be reached\n  why: b (GET http://h)\n next: c\n',
    exitCode: 1,
  })
})

it('lists of mistakes keep their lines, without control characters', () => {
  const error = Object.assign(new Error('The configuration has a mistake:\n  a.yaml:1 port: \u001b[2J'), {
    name: 'ConfigError',
  })
  expect(describeError(error, plain)).toEqual({
    text: 'error: The configuration has a mistake:\n  a.yaml:1 port: [2J\n',
    exitCode: 2,
  })
})

it('a port in use is no mistake of the user', () => {
  const error = Object.assign(new Error('port 80 is taken'), { name: 'ListenError' })
  expect(describeError(error, plain)).toEqual({ text: 'error: port 80 is taken\n', exitCode: 1 })
})

it('anything else is a defect, with its stack', () => {
  const { text, exitCode } = describeError(new RangeError('oops'), plain)
  expect(text).toMatch(/^error: purser failed unexpectedly\n {2}why: oops\n next: Please report.*\nRangeError: oops\n/)
  expect(exitCode).toBe(1)
  expect(describeError('odd', plain).text).toContain('why: odd')
})
