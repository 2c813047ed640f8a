import { expect, it } from 'vitest'
import { OsbConnectionError } from '../client/connection-error.ts'
import { StartError } from '../running/start-error.ts'
import { failure, wrongUsage } from './cli-error.ts'
import { describeError } from './describe-error.ts'
import { createPaint, processIo } from './io.ts'

const plain = (_: string, text: string) => text
const parts = { what: 'a', why: 'b', next: 'c' }
const threeLines = 'error: a\n  why: b\n next: c\n'

it('errors that know what, why and next are three lines', () => {
  expect(describeError(failure(parts), plain)).toMatchObject({ text: threeLines, exitCode: 1 })
  expect(describeError(wrongUsage(parts), plain)).toMatchObject({ text: threeLines, exitCode: 2 })
  expect(describeError(new StartError('a', 'b', 'c'), plain)).toMatchObject({ text: threeLines, exitCode: 2 })
  expect(describeError(new OsbConnectionError('GET http://h', 'b', 'c'), plain)).toMatchObject({
    text: 'error: the broker could not be reached\n  why: b (GET http://h)\n next: c\n',
    exitCode: 1,
  })
})

it('lets no control character of a broker through', () => {
  const { text } = describeError(failure({ ...parts, why: '\u001b[2J\u0007gone\u009b31m\u202e\nTaken' }), plain)
  expect(text).toContain('  why: [2J gone 31m Taken\n')
})

it('has colour only where somebody sees it', () => {
  const stderr = { write() {}, isTTY: true }
  const render = (env: Record<string, string>) =>
    describeError(failure(parts), createPaint({ ...processIo(), stderr, env })).text
  expect(render({})).toContain('\u001b[31merror:\u001b[39m \u001b[1ma\u001b[22m\n')
  expect(render({ NO_COLOR: '1' })).toBe(threeLines)
})

it('lists of mistakes keep their lines, without control characters', () => {
  const error = Object.assign(new Error('The configuration has a mistake:\n  a.yaml:1 port: \u001b[2J'), {
    name: 'ConfigError',
  })
  expect(describeError(error, plain)).toMatchObject({
    text: 'error: The configuration has a mistake:\n  a.yaml:1 port: [2J\n',
    exitCode: 2,
  })
})

it('a port in use is not a mistake of the user', () => {
  const error = Object.assign(new Error('port 80 is taken'), { name: 'ListenError' })
  expect(describeError(error, plain)).toMatchObject({ text: 'error: port 80 is taken\n', exitCode: 1 })
})

it('anything else is a defect, with its stack', () => {
  const { text, exitCode } = describeError(new RangeError('oops'), plain)
  expect(text).toMatch(/^error: purser failed unexpectedly\n {2}why: oops\n next: Please report.*\nRangeError: oops\n/)
  expect(exitCode).toBe(1)
  expect(describeError('odd', plain).text).toContain('why: odd')
})
