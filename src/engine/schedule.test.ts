import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createSchedule } from './schedule.ts'

const at = (text: string) => Date.parse(text)

describe('a schedule', () => {
  it.each([
    ['*/5 * * * * *', 'UTC', '2026-01-01T00:00:07.300Z', '2026-01-01T00:00:05Z', '2026-01-01T00:00:10Z'],
    ['*/5 * * * * *', 'UTC', '2026-01-01T00:00:05Z', '2026-01-01T00:00:05Z', '2026-01-01T00:00:10Z'],
    ['30 3 * * *', 'UTC', '2026-01-01T03:29:59.999Z', '2025-12-31T03:30:00Z', '2026-01-01T03:30:00Z'],
    ['30 3 * * *', 'Europe/Berlin', '2026-01-01T03:00:00Z', '2026-01-01T02:30:00Z', '2026-01-02T02:30:00Z'],
    ['0 0 3 * * ?', 'UTC', '2026-01-01T03:00:00Z', '2026-01-01T03:00:00Z', '2026-01-02T03:00:00Z'],
    ['0 0 0 L * *', 'UTC', '2026-02-10T00:00:00Z', '2026-01-31T00:00:00Z', '2026-02-28T00:00:00Z'],
    ['0 0 0 ? * MON#1', 'UTC', '2026-01-15T00:00:00Z', '2026-01-05T00:00:00Z', '2026-02-02T00:00:00Z'],
    ['0 0 29 2 *', 'UTC', '2026-01-01T00:00:00Z', '2024-02-29T00:00:00Z', '2028-02-29T00:00:00Z'],
    ['@daily', 'America/New_York', '2026-07-01T12:00:00Z', '2026-07-01T04:00:00Z', '2026-07-02T04:00:00Z'],
  ])('%s in %s, seen at %s', (pattern, timeZone, now, latest, next) => {
    const schedule = createSchedule(pattern, timeZone)
    expect(schedule.latest(at(now))).toBe(at(latest))
    expect(schedule.next(at(now))).toBe(at(next))
  })

  it('moves what a change to summer time skips to the end of the gap, and runs what comes twice once', () => {
    const daily = createSchedule('0 30 2 * * *', 'Europe/Berlin')
    expect(daily.next(at('2026-03-28T12:00:00Z'))).toBe(at('2026-03-29T01:00:00Z'))
    expect(daily.latest(at('2026-03-29T12:00:00Z'))).toBe(at('2026-03-29T01:00:00Z'))
    expect(daily.next(at('2026-10-24T12:00:00Z'))).toBe(at('2026-10-25T00:30:00Z'))
    expect(daily.next(at('2026-10-25T00:30:00Z'))).toBe(at('2026-10-26T01:30:00Z'))
    expect(daily.latest(at('2026-10-25T12:00:00Z'))).toBe(at('2026-10-25T00:30:00Z'))
    const often = createSchedule('0 */30 * * * *', 'Europe/Berlin')
    expect(often.next(at('2026-10-25T00:30:00Z'))).toBe(at('2026-10-25T01:00:00Z'))
    expect(often.latest(at('2026-10-25T01:10:00Z'))).toBe(at('2026-10-25T01:00:00Z'))
  })

  it.each([
    ['', 'it has 1 field; write a cron pattern of 5 fields'],
    ['* * *', 'it has 3 fields;'],
    ['0 0 0 1 1 * 2030', 'it has 7 fields;'],
    ['2030-01-01T00:00:00', 'it has 1 field;'],
    ['0 61 * * * *', 'it cannot be read (Invalid value for minute: 61);'],
    ['@sometimes', 'it cannot be read ('],
    ['0 0 30 2 *', 'there is no such time;'],
  ])('refuses %j', (pattern, problem) => {
    expect(() => createSchedule(pattern, 'UTC')).toThrow(problem)
  })

  it('has no time between the latest and the next, looked at in either direction', () => {
    const patterns = fc.constantFrom(
      '*/5 * * * * *',
      '30 * * * *',
      '15 2,14 * * *',
      '0 30 2 * * *',
      '0 0 1 * *',
      '0 0 4 * * MON',
    )
    const zones = fc.constantFrom('UTC', 'Europe/Berlin', 'America/New_York', 'Asia/Kolkata', 'Australia/Lord_Howe')
    const times = fc.integer({ min: at('2025-01-01T00:00:00Z'), max: at('2028-01-01T00:00:00Z') })
    fc.assert(
      fc.property(patterns, zones, times, (pattern, zone, now) => {
        const schedule = createSchedule(pattern, zone)
        const [latest = Number.NaN, next = Number.NaN] = [schedule.latest(now), schedule.next(now)]
        expect(latest).toBeLessThanOrEqual(now)
        expect(next).toBeGreaterThan(now)
        expect(schedule.next(latest)).toBe(next)
        expect(schedule.latest(next)).toBe(next)
        expect(schedule.latest(next - 1)).toBe(latest)
      }),
      { numRuns: 400 },
    )
  })
})
