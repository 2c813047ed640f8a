import { describe, expect, it } from 'vitest'
import type { LastOperation } from './messages.ts'
import type { PolledAction } from './poll.ts'
import { judgePoll, parseRetryAfter } from './poll.ts'

function judge(action: PolledAction, status: number, body: LastOperation = {}) {
  return judgePoll(action, { status, headers: {}, body, text: '' })
}

describe('judgePoll', () => {
  it('POLL-15 POLL-16 reads the three states', () => {
    expect(judge('provision', 200, { state: 'in progress', description: '2/5' })).toEqual({
      kind: 'running',
      description: '2/5',
    })
    expect(judge('provision', 200, { state: 'succeeded' })).toEqual({ kind: 'final', state: 'succeeded' })
    expect(
      judge('update', 200, { state: 'failed', description: 'no', instance_usable: false, update_repeatable: false }),
    ).toEqual({ kind: 'final', state: 'failed', description: 'no', instanceUsable: false, updateRepeatable: false })
  })

  it.each(['deprovision', 'unbind'] as const)('POLL-11 BPOLL-10 410 ends a %s as succeeded', action => {
    expect(judge(action, 410)).toEqual({ kind: 'final', state: 'succeeded' })
  })

  it.each(['provision', 'update', 'bind'] as const)('POLL-12 BPOLL-11 410 says nothing about a %s', action => {
    expect(judge(action, 410).kind).toBe('unclear')
  })

  it.each([400, 401, 404, 500, 503])('POLL-13 BPOLL-12 %i says nothing', status => {
    expect(judge('deprovision', status, { error: 'X', description: 'why' })).toEqual({
      kind: 'unclear',
      problem: `the broker answered ${status} X: why`,
    })
  })

  it('POLL-13 a 200 without a valid state says nothing', () => {
    expect(judge('provision', 200).kind).toBe('unclear')
    expect(judge('provision', 200, { state: 'done' as 'failed' }).kind).toBe('unclear')
  })
})

describe('parseRetryAfter', () => {
  it('POLL-20 takes seconds and dates', () => {
    const now = Date.parse('Thu, 01 Jan 2026 00:00:00 GMT')
    expect(parseRetryAfter('7', now)).toBe(7000)
    expect(parseRetryAfter('Thu, 01 Jan 2026 00:00:30 GMT', now)).toBe(30_000)
    expect(parseRetryAfter('Wed, 31 Dec 2025 00:00:00 GMT', now)).toBe(0)
  })

  it('ignores what is neither', () => {
    expect(parseRetryAfter('soon', 0)).toBeUndefined()
    expect(parseRetryAfter(undefined, 0)).toBeUndefined()
  })
})
