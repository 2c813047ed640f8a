import { describe, expect, it } from 'vitest'
import { findFraction, formatElapsed, renderLiveLine, renderLogLine } from './show-progress.ts'

const plain = (_: string, text: string) => text
const view = { label: 'provision postgres/small', elapsed: 61_000 }

describe('the live line', () => {
  it('has a spinner, the time and the description', () => {
    expect(renderLiveLine({ ...view, description: 'starting' }, 0, 80, plain)).toBe(
      '⠋ provision postgres/small 1m 1s  starting',
    )
    expect(renderLiveLine(view, 1, 80, plain)).toBe('⠙ provision postgres/small 1m 1s')
  })

  it('has a bar where the description tells how much is done', () => {
    expect(renderLiveLine({ ...view, description: 'copied 40%' }, 10, 80, plain)).toBe(
      '⠋ provision postgres/small 1m 1s [████████░░░░░░░░░░░░] 40%  copied 40%',
    )
  })

  it('tells what is wrong', () => {
    expect(
      renderLiveLine({ ...view, description: 'starting', problem: 'the broker answered 503' }, 0, 100, plain),
    ).toBe('⠋ provision postgres/small 1m 1s  the broker answered 503; trying again')
  })

  it.each([10, 20, 34, 35, 36, 40, 80])('never fills a terminal of %i columns', columns => {
    const line = renderLiveLine({ ...view, description: 'a long story '.repeat(20) }, 0, columns, plain)
    expect(line.length).toBeLessThan(columns)
    expect(line).not.toMatch(/[\r\n]/)
  })

  it('colours what it shows', () => {
    const line = renderLiveLine({ ...view, problem: 'no' }, 0, 80, (format, text) => `<${format}>${text}`)
    expect(line).toBe('<cyan>⠋ provision postgres/small 1m 1s<red>  no; trying again')
  })
})

it('the log line says the same without the time', () => {
  expect(renderLogLine({ ...view, description: 'a\nb' })).toBe('provision postgres/small: a b')
  expect(renderLogLine(view)).toBe('provision postgres/small: in progress')
})

it.each([
  [0, '0s'],
  [59_999, '59s'],
  [60_000, '1m 0s'],
  [3_600_000, '1h 0m'],
  [90_061_000, '25h 1m'],
])('%i ms are %s', (ms, text) => {
  expect(formatElapsed(ms)).toBe(text)
})

it.each([
  ['copied 40%', 0.4],
  ['99.5 % done', 0.995],
  ['100%', 1],
  ['step 2/5: copying', 0.4],
  ['3 / 4', 0.75],
  ['0/3', 0],
  ['150% more', undefined],
  ['2/0', undefined],
  ['7/5', undefined],
  ['2026/11/15', undefined],
  ['https://host/1/2', undefined],
  ['10.0.0.0/24', undefined],
  ['starting', undefined],
  [undefined, undefined],
])('findFraction(%j) is %j', (description, fraction) => {
  expect(findFraction(description)).toBe(fraction)
})
