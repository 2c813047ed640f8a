import { describe, expect, it } from 'vitest'
import type { Binding, HistoryEvent, Instance, Operation } from '../../src/store.ts'
import { check, checkAnswers, checkBackend, checkHistory, checkNotes } from './checker.ts'
import { accepted, asked, next, polled } from './hand-made.ts'
import type { Asked, BackendCall, LedgerInstance, LedgerNote, Polled } from './record.ts'
import { bindingName, partNames, sharedName } from './service.ts'

const ended = (id: string, state: Operation['state'], action: Operation['action'] = 'provision') =>
  ({ id, state, action, instanceId: 'i' }) as Operation
const byId = (...list: readonly Operation[]) => new Map(list.map(one => [one.id, one]))

describe('the answers of platforms', () => {
  const succeeded = byId(ended('1', 'succeeded'))

  it('has nothing against an operation that was accepted and has ended, whatever happened on the way', () => {
    const events = [
      asked('provision', {}),
      asked('provision', { status: 503 }),
      asked('provision', accepted('1')),
      polled('1', { state: 'in progress' }),
      { ...polled('1', {}), status: 503 },
      polled('1', { state: 'succeeded' }),
      polled('1', { state: 'succeeded' }),
    ]
    expect(checkAnswers(events, succeeded)).toEqual([])
  })

  it.for<[string, readonly (Asked | Polled)[], ReadonlyMap<string, Operation>, RegExp]>([
    ['an operation without an end', [asked('provision', accepted('1'))], succeeded, /never ended/],
    [
      'an operation that is active in the end',
      [asked('provision', accepted('1'))],
      byId(ended('1', 'running')),
      /still active/,
    ],
    ['an operation that the ledger does not know', [asked('provision', accepted('1'))], byId(), /does not know/],
    ['a 202 without an operation', [asked('provision', { status: 202 })], succeeded, /without an operation/],
    ['a 500', [asked('provision', { status: 500 })], succeeded, /answered 500/],
    ['a poll that is refused', [polled('1', { status: 404 })], succeeded, /answered 404/],
    [
      'a result that changes',
      [polled('1', { state: 'failed' }), polled('1', { state: 'succeeded' })],
      succeeded,
      /later poll says succeeded/,
    ],
    [
      'a result that is taken back',
      [polled('1', { state: 'succeeded' }), polled('1', { state: 'in progress' })],
      succeeded,
      /later poll says in progress/,
    ],
    ['a failure that is none in the ledger', [polled('1', { state: 'failed' })], succeeded, /the ledger succeeded/],
  ])('finds %s', ([, events, operations, problem]) => {
    expect(checkAnswers(events, operations).join('\n')).toMatch(problem)
  })
})

describe('the history in the ledger', () => {
  const event = (
    type: HistoryEvent['type'],
    operationId: string,
    action: string,
    bindingId?: string,
  ): HistoryEvent => ({
    at: 0,
    type,
    instanceId: 'i',
    operationId,
    action,
    bindingId,
  })

  it('has nothing against one operation after the other, binds side by side, and a sweep', () => {
    const history = [
      event('accepted', '1', 'provision'),
      event('succeeded', '1', 'provision'),
      event('accepted', '2', 'bind', 'b1'),
      event('accepted', '3', 'bind', 'b2'),
      event('failed', '3', 'bind', 'b2'),
      event('superseded', '2', 'bind', 'b1'),
      event('accepted', '4', 'unbind', 'b1'),
      event('succeeded', '4', 'unbind', 'b1'),
      event('succeeded', '5', 'sweep', 'b1'),
      event('accepted', '6', 'bind', 'b1'),
      event('succeeded', '6-sweep', 'sweep', 'b1'),
      event('succeeded', '6', 'bind', 'b1'),
    ]
    expect(checkHistory(history)).toEqual([])
  })

  it.for<[string, readonly HistoryEvent[], RegExp]>([
    [
      'two of one resource',
      [event('accepted', '1', 'provision'), event('accepted', '2', 'deprovision')],
      /beside provision 1/,
    ],
    ['a bind in an update', [event('accepted', '1', 'update'), event('accepted', '2', 'bind', 'b')], /beside update 1/],
    ['an update in a bind', [event('accepted', '1', 'bind', 'b'), event('accepted', '2', 'update')], /beside bind 1/],
    ['no end', [event('accepted', '1', 'provision')], /has no end/],
    [
      'two ends',
      [event('accepted', '1', 'update'), event('failed', '1', 'update'), event('succeeded', '1', 'update')],
      /ended twice/,
    ],
    ['the end of what was not active', [event('succeeded', '1', 'update')], /while nothing was active/],
    [
      'a sweep beside a new creation',
      [event('accepted', '1', 'provision'), event('succeeded', '2', 'sweep'), event('succeeded', '1', 'provision')],
      /sweep 2 .* while 1 was active/,
    ],
  ])('finds %s', ([, history, problem]) => {
    expect(checkHistory(history).join('\n')).toMatch(problem)
  })
})

describe('the writes of the replicas', () => {
  const note = (type: LedgerNote['type'], fence: number, more: Partial<LedgerNote> = {}): LedgerNote => ({
    type,
    replica: `r${fence}`,
    operation: 'o',
    fence,
    written: true,
    ...next(),
    ...more,
  })

  it('has nothing against refused writes of an old holder, nor against one that was sent before its loss', () => {
    const early = note('checkpoint', 1)
    const notes = [note('claim', 1), early, note('claim', 2), note('checkpoint', 1, { written: false })]
    expect(checkNotes(notes)).toEqual([])
    expect(checkNotes([...notes, note('checkpoint', 1, { start: early.start })])).toEqual([])
  })

  it.for<[string, () => readonly LedgerNote[], RegExp]>([
    [
      'a write under an old fence',
      () => [note('claim', 1), note('claim', 2), note('checkpoint', 1)],
      /under fence 1 after r2 had got 2/,
    ],
    [
      'an end under an old fence',
      () => [note('claim', 1), note('claim', 2), note('finish', 1)],
      /wrote a finish under fence 1/,
    ],
    ['two claims with one fence', () => [note('claim', 1), note('claim', 1)], /same fence/],
    [
      'a step that was committed twice',
      () => [note('checkpoint', 1, { step: 's' }), note('checkpoint', 1, { step: 's' })],
      /committed twice/,
    ],
    ['two ends', () => [note('finish', 1), note('finish', 2)], /finished 2 times/],
    ['a write after the end', () => [note('finish', 1), note('park', 1)], /wrote a park after its end/],
  ])('finds %s', ([, notes, problem]) => {
    expect(checkNotes(notes()).join('\n')).toMatch(problem)
  })
})

describe('the backend against the ledger', () => {
  const instance = (
    phase: Instance['phase'],
    more: Partial<LedgerInstance> = {},
    planId = 'steps',
  ): LedgerInstance => ({
    row: { id: 'i', phase, planId, parameters: { size: 'small' } } as unknown as Instance,
    bindings: [],
    history: [{ at: 0, type: 'accepted', instanceId: 'i', operationId: '1', action: 'provision' }],
    operations: [ended('1', 'succeeded')],
    ...more,
  })
  const call = (name: string, more: Partial<BackendCall> = {}): BackendCall => ({
    kind: 'put',
    name,
    value: 'small',
    key: '',
    fence: 1,
    fault: 'none',
    sentAt: 0,
    arrivedAt: 0,
    ...more,
  })
  const parts = (value = 'small') => Object.fromEntries(partNames('i').map(name => [name, value]))
  const [first = ''] = partNames('i')
  const bound = { id: 'b', phase: 'ready' } as Binding

  it('has nothing against what the ledger knows', () => {
    const things = { ...parts(), [bindingName('i', 'b')]: 'granted', [sharedName]: 'yes' }
    expect(checkBackend([instance('ready', { bindings: [bound] }, 'shared')], { things, calls: [] })).toEqual([])
    expect(checkBackend([instance('deleted')], { things: {}, calls: [] })).toEqual([])
  })

  it('does not hold against the broker what a call did that nobody waited for any more', () => {
    const calls = [call(first, { appliedAt: 1 }), call(first, { appliedAt: 2, late: true, value: 'large' })]
    const things = { ...parts(), [first]: 'large' }
    expect(checkBackend([instance('ready')], { things, calls })).toEqual([])
    const inTime = calls.map(one => ({ ...one, late: false }))
    expect(checkBackend([instance('ready')], { things, calls: inTime }).join()).toMatch(/is large/)
  })

  it('does not ask for values after an update that failed half-way', () => {
    const failed = { ...instance('ready'), operations: [ended('1', 'failed')] }
    expect(checkBackend([failed], { things: { ...parts(), [first]: 'large' }, calls: [] })).toEqual([])
  })

  it.for<[string, LedgerInstance, Record<string, string>, RegExp]>([
    [
      'a part that is missing',
      instance('ready'),
      { ...parts(), [first]: undefined as unknown as string },
      /is missing/,
    ],
    ['another value', instance('ready'), parts('large'), /is ready with small/],
    ['a part of what was deleted', instance('deleted'), { [first]: 'small' }, /nothing that needs it/],
    ['what nobody knows', instance('ready'), { ...parts(), stray: 'x' }, /stray is in the backend/],
    ['a binding that is missing', instance('ready', { bindings: [bound] }), parts(), /none in the backend/],
    [
      'a binding that is left',
      instance('ready'),
      { ...parts(), [bindingName('i', 'b')]: 'x' },
      /nothing that needs it/,
    ],
    ['what is shared and missing', instance('ready', {}, 'shared'), parts(), /share is missing/],
    ['what is shared and left', instance('deleted', {}, 'shared'), { [sharedName]: 'yes' }, /nothing that needs it/],
  ])('finds %s', ([, row, things, problem]) => {
    expect(checkBackend([row], { things, calls: [] }).join('\n')).toMatch(problem)
  })

  it('is asked together with all other rules', () => {
    const events = new Map([['i', [asked('provision', { status: 500 }), asked('update', accepted('9'))]]])
    const history = [{ at: 0, type: 'accepted', instanceId: 'i', operationId: '1', action: 'provision' }] as const
    const twice = { type: 'finish', replica: 'r', operation: 'o', fence: 1, written: true, start: 0, end: 1 } as const
    const evidence = {
      events,
      ledger: [instance('deleted', { history })],
      notes: [twice, twice],
      backend: { things: { stray: 'x' }, calls: [] },
    }
    const problems = check(evidence).join('\n')
    for (const rule of [/answered 500/, /by the ledger/, /has no end/, /finished 2 times/, /stray is in/])
      expect(problems).toMatch(rule)
  })
})
