import { describe, expect, it } from 'vitest'
import { type EndedSandbox, judge } from './verdict.ts'

const exited = (code: number): EndedSandbox => ({ kind: 'exited', code })
const nothing = { problems: [] }

describe('what the end of a sandbox means', () => {
  it('follows from the exit code', () => {
    expect(judge(exited(0), nothing)).toEqual({ kind: 'succeeded' })
    expect(judge(exited(8), nothing)).toEqual({ kind: 'not-implemented' })
    expect(judge(exited(75), nothing)).toMatchObject({ kind: 'try-again' })
    expect(judge(exited(75), { message: 'soon', problems: [] })).toEqual({ kind: 'try-again', message: 'soon' })
    expect(judge(exited(3), { message: 'no disk', problems: [] })).toEqual({ kind: 'failed', message: 'no disk' })
    expect(judge(exited(137), nothing)).toMatchObject({ kind: 'failed', message: expect.stringContaining('137') })
  })

  it('is another try where it was not run, and that may have been chance', () => {
    expect(judge({ kind: 'refused', reason: 'its node could not start it', again: true }, nothing)).toEqual({
      kind: 'try-again',
      message: 'its node could not start it',
    })
  })

  it('is a failure where something was left that cannot be used', () => {
    expect(judge(exited(0), { problems: ['state.json is too large'] })).toEqual({
      kind: 'failed',
      message: 'What the bundle left cannot be used: state.json is too large.',
    })
  })

  it('is a failure where it was stopped, or nobody knows, whatever it says', () => {
    expect(judge({ kind: 'exited', code: 0, stopped: 'time' }, { message: 'done', problems: [] })).toMatchObject({
      kind: 'failed',
      message: expect.stringContaining('time limit'),
    })
    expect(judge({ kind: 'lost', reason: 'the machine was restarted' }, nothing)).toEqual({
      kind: 'failed',
      message: 'How the bundle ended is not known: the machine was restarted.',
    })
    expect(judge({ kind: 'refused', reason: 'its image cannot be pulled' }, nothing)).toEqual({
      kind: 'failed',
      message: 'The bundle cannot be run: its image cannot be pulled.',
    })
  })
})
