import { describe, expect, it } from 'vitest'
import { type TimelineOperation, type TimelineTry, toScale, toTimeline } from '../../console/src/timeline/model.ts'

const start = Date.parse('2026-01-01T00:00:00.000Z')
const at = (ms: number) => new Date(start + ms).toISOString()

function attempt(from: number, to: number, more: Partial<TimelineTry> = {}): TimelineTry {
  return { started_at: at(from), ended_at: at(to), worker: 'a/1', fence: 1, ...more }
}

function step(name: string, tries: readonly TimelineTry[], attempts = tries.length) {
  const error = tries.at(-1)?.error
  return { name, state: error === undefined ? 'done' : 'failed', attempts, started_at: at(0), tries }
}

function operation(steps: TimelineOperation['steps'], finished?: number): TimelineOperation {
  const state = finished === undefined ? 'queued' : 'succeeded'
  return { state, accepted_at: at(0), ...(finished === undefined ? {} : { finished_at: at(finished) }), steps }
}

const seen = (given: TimelineOperation, now = start + 10_000) =>
  toTimeline(given, now).rows.map(({ name, bars }) => [
    name,
    ...bars.map(({ kind, from, to, count }) => `${kind} ${from - start}-${to - start}${count > 1 ? ` x${count}` : ''}`),
  ])

const failed = (from: number, to: number, more: Partial<TimelineTry> = {}) =>
  attempt(from, to, { error: 'no', ...more })

describe('a timeline', () => {
  it('has a row for each step and a bar for each attempt, and is hatched where it waited', () => {
    const steps = [step('one', [attempt(500, 700)]), step('two', [failed(700, 800), attempt(2_000, 2_300)])]
    expect(seen(operation(steps, 2_310))).toEqual([
      ['one', 'wait 0-500', 'done 500-700'],
      ['two', 'failed 700-800', 'wait 800-2000', 'done 2000-2300'],
    ])
  })

  it('folds equal failures in a row, with those that are only counted any more', () => {
    const tries = [
      failed(0, 10),
      failed(100, 110),
      failed(200, 210),
      failed(300, 310, { error: 'other' }),
      attempt(400, 500),
    ]
    expect(seen(operation([step('s', tries, 9)], 500))).toEqual([
      ['s', 'failed 0-210 x7', 'wait 210-300', 'failed 300-310', 'wait 310-400', 'done 400-500'],
    ])
  })

  it('begins with those that are only counted any more, and not with a wait for the first that is known', () => {
    const steps = [step('one', [attempt(0, 100)]), step('two', [failed(900, 910), failed(950, 960)], 30)]
    expect(seen(operation(steps, 960))).toEqual([
      ['one', 'done 0-100'],
      ['two', 'failed 100-960 x30'],
    ])
  })

  it('does not fold two', () => {
    expect(seen(operation([step('s', [failed(0, 10), failed(100, 110), attempt(200, 210)])], 210))).toEqual([
      ['s', 'failed 0-10', 'wait 10-100', 'failed 100-110', 'wait 110-200', 'done 200-210'],
    ])
  })

  it('goes on until now where it has not ended, on the row of what is tried again', () => {
    expect(seen(operation([step('s', [failed(0, 10)])]), start + 5_000)).toEqual([['s', 'failed 0-10', 'wait 10-5000']])
    const running = { ...operation([step('s', [attempt(0, 10)])]), state: 'running' }
    expect(seen(running, start + 5_000)).toEqual([
      ['s', 'done 0-10'],
      ['running now', 'running 10-5000'],
    ])
  })

  it('has a rule where a lease was taken over, once for each lease, with both workers', () => {
    const taken = { worker: 'b/2', fence: 9, taken_over: true }
    const steps = [step('s', [failed(0, 10), failed(3_000, 3_100, taken), attempt(3_200, 3_300, taken)])]
    expect(toTimeline(operation(steps, 3_300), 0).takeovers).toEqual([
      { at: start + 3_000, from: 'a/1', to: 'b/2', fence: 9 },
    ])
  })

  it('leaves out what the operation that it repeats has done', () => {
    const steps = [step('s', [attempt(-900, -800)]), step('t', [attempt(20, 90)])]
    expect(seen(operation(steps, 90))).toEqual([['s'], ['t', 'done 20-90']])
  })
})

describe('the scale of a timeline', () => {
  it('is even where something happens, and shortens long waits', () => {
    const timeline = toTimeline(operation([step('s', [failed(0, 1_000), attempt(601_000, 603_000)])], 603_000), 0)
    const scale = toScale(timeline)
    expect(scale.gaps.map(({ from, to }) => [from - start, to - start])).toEqual([[1_000, 601_000]])
    expect([scale.at(start), scale.at(start + 603_000)]).toEqual([0, 1])
    expect(scale.at(start + 1_000)).toBeCloseTo(0.2)
    expect(scale.at(start + 601_000)).toBeCloseTo(0.6)
  })

  it('never goes back', () => {
    const timeline = toTimeline(operation([step('s', [attempt(5, 6), attempt(90_000, 90_001)])], 90_100), 0)
    const scale = toScale(timeline)
    const places = Array.from({ length: 200 }, (_, index) => scale.at(start + (90_100 * index) / 199))
    expect(places).toEqual(places.toSorted((one, other) => one - other))
  })
})
