import { describe, expect, it } from 'vitest'
import type { Snapshot } from '../../src/domain/change.ts'
import { decidePin } from '../../src/domain/decide-pin.ts'
import { mergePatch } from '../../src/domain/merge-patch.ts'

const pin = { operationId: 'o', fence: 7, revisionId: 'r', parameters: { size: 3 }, maintenanceVersion: '1.0.0' }

function snapshotOf(operation: object | undefined): Snapshot {
  const instance = { id: 'i', parameters: {}, updatedAt: 1 }
  return { now: 5, instance, liveBindings: 0, busyBindings: 0, ...(operation && { operation }) } as unknown as Snapshot
}

describe('decidePin', () => {
  it('pins an instance for whoever holds its provision', () => {
    expect(decidePin(snapshotOf({ id: 'o', fence: 7, state: 'running' }), pin)).toEqual({
      answer: true,
      change: {
        instance: { id: 'i', revisionId: 'r', parameters: { size: 3 }, maintenanceVersion: '1.0.0', updatedAt: 5 },
      },
    })
  })

  it.each([
    ['another holder has it', { id: 'o', fence: 8, state: 'running' }],
    ['it was parked', { id: 'o', fence: 7, state: 'queued' }],
    ['a deletion took over', { id: 'other', fence: 7, state: 'running' }],
    ['it has ended', undefined],
  ])('writes nothing where %s', (_, operation) => {
    expect(decidePin(snapshotOf(operation), pin)).toEqual({ answer: false })
  })
})

describe('mergePatch', () => {
  it('merges objects key by key, removes by null, and replaces the rest', () => {
    const state = { state: { a: '1', b: '2' }, credentials: { user: 'x' }, list: [1] }
    expect(mergePatch(state, { state: { a: null, c: '3' }, list: [2] })).toEqual({
      state: { b: '2', c: '3' },
      credentials: { user: 'x' },
      list: [2],
    })
    expect(mergePatch({ a: 'text' }, { a: { b: null, c: 1 } })).toEqual({ a: { c: 1 } })
  })
})
