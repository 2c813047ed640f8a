import { describe, expect, it } from 'vitest'
import { parseDuration, sayDuration } from './duration.ts'

describe('parseDuration', () => {
  it.each([
    ['500ms', 500],
    ['90s', 90_000],
    ['1.5m', 90_000],
    ['2h', 7_200_000],
    ['10d', 864_000_000],
    ['PT1H30M', 5_400_000],
    ['P3D', 259_200_000],
    [' 1s ', 1000],
    [0, 0],
    [250, 250],
  ])('%j is %d milliseconds', (duration, expected) => {
    expect(parseDuration(duration)).toBe(expected)
  })

  it.each(['', '10', 's', '-1s', '1 hour', '1h30m', '10w', '1e3s'])('%j is refused with the allowed units', text => {
    expect(() => parseDuration(text)).toThrow(/is not a duration: write a number and ms, s, m, h or d/)
  })

  it.each([-1, Number.NaN, Number.POSITIVE_INFINITY])('%d is refused', number => {
    expect(() => parseDuration(number)).toThrow(/is not a duration/)
  })
})

describe('sayDuration', () => {
  it.each([
    [0, '0 milliseconds'],
    [1, '1 millisecond'],
    [500, '500 milliseconds'],
    [999.7, '1 second'],
    [1000, '1 second'],
    [1500, '1.5 seconds'],
    [6000, '6 seconds'],
    [59_990, '1 minute'],
    [90_000, '1 minute 30 seconds'],
    [300_000, '5 minutes'],
    [3_600_000, '1 hour'],
    [5_400_000, '1 hour 30 minutes'],
    [7_199_000, '2 hours'],
    [86_400_000, '1 day'],
    [97_200_000, '1 day 3 hours'],
    [86_400_000 * 2 - 1, '2 days'],
  ])('%d milliseconds are %j', (ms, expected) => {
    expect(sayDuration(ms)).toBe(expected)
  })
})
