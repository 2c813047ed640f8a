import { describe, expect, it } from 'vitest'
import type { Binding } from '../../src/domain/binding.ts'
import type { Snapshot } from '../../src/domain/change.ts'
import { decideExpiry } from '../../src/domain/decide-expiry.ts'
import { bindingRow, instanceRow, operationRow } from '../../src/testing/store-contract/rows.ts'

const now = 1_000
const unbind = {
  operationId: 'o',
  platform: 'cf',
  instanceId: 'i',
  bindingId: 'b',
  serviceId: 'service',
  requestHash: '',
  acceptsIncomplete: true,
  mode: 'always',
  timeout: 50,
  sweepDelay: 5,
  landsWithin: 5,
  forceUnknown: false,
} as const
const intent = { unbind, pause: 100, pauseWhileBusy: 10, by: 'chore' }

function at(binding: Partial<Binding>, more: Partial<Snapshot> = {}): Snapshot {
  const none = { liveBindings: 1, busyBindings: 0, sweptBindings: 0 }
  const row = bindingRow('i', 'b', { phase: 'ready', ...binding })
  return { now, instance: instanceRow('i', { phase: 'ready' }), binding: row, ...none, ...more }
}

describe('a look at a binding that expires', () => {
  it.each<[string, Snapshot]>([
    ['somebody was faster', at({ expiresAt: now - 1, noticeAt: now + 1 })],
    ['it was told of that it should be rotated', at({ expiresAt: now + 5, noticeAt: now + 5 })],
    ['it never expires', at({})],
    ['it is deleted', at({ expiresAt: now - 1, phase: 'deleted', deletedAt: now })],
    ['it is not there', { ...at({}), binding: undefined }],
  ])('does nothing where %s', (_, snapshot) => {
    expect(decideExpiry(snapshot, intent)).toEqual({ answer: {} })
  })

  it('tells once that it should be rotated, and comes again at its end', () => {
    const { answer, change } = decideExpiry(at({ expiresAt: now + 5, renewBefore: now, noticeAt: now }), intent)
    expect([answer.told, answer.operation]).toEqual(['expiring', undefined])
    expect(change?.bindings).toMatchObject([{ noticeAt: now + 5, phase: 'ready' }])
    expect(change?.operations).toBeUndefined()
  })

  it('begins one unbind at the end, and is due again in case that fails', () => {
    const { answer, change } = decideExpiry(at({ expiresAt: now }), intent)
    expect(answer).toMatchObject({ told: 'expired', operation: { id: 'o', action: 'unbind' } })
    expect(change?.bindings).toMatchObject([{ phase: 'deleting', noticeAt: now + 100 }])
    expect(change?.history?.map(({ type, by }) => [type, by])).toEqual([
      ['expired', undefined],
      ['accepted', 'chore'],
    ])
  })

  it.each<[string, Partial<Snapshot>]>([
    ['its own unbind', { bindingOperation: operationRow('u', 'i', { bindingId: 'b', action: 'unbind' }) }],
    ['an update of its instance', { operation: operationRow('u', 'i', { action: 'update' }) }],
  ])('leaves alone what is at work: %s', (_, more) => {
    const { answer, change } = decideExpiry(at({ expiresAt: now - 1, noticeAt: now }, more), intent)
    expect([answer.told, answer.operation]).toEqual([undefined, undefined])
    expect(change).toMatchObject({ bindings: [{ phase: 'ready', noticeAt: now + 10 }], history: [] })
    expect(change?.operations).toBeUndefined()
  })

  it('an observation gives way', () => {
    const operation = operationRow('u', 'i', { action: 'observe' })
    expect(decideExpiry(at({ expiresAt: now }, { operation }), intent).answer.operation?.id).toBe('o')
  })
})
