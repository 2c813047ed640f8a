import { describe, expect, it } from 'vitest'
import type { Binding } from '../../src/domain/binding.ts'
import type { Snapshot } from '../../src/domain/change.ts'
import { decideAdopt, decideAdoptBinding } from '../../src/domain/decide-adopt.ts'
import type { Instance } from '../../src/domain/instance.ts'
import { newOperation } from '../../src/domain/intent.ts'

const now = 1_000
const ids = { serviceId: 's', planId: 'p' }
const content = { ...ids, context: {}, parameters: {}, state: {}, requestHash: 'h' }
const acting = { by: 'me', reason: 'why', newId: () => 'o', dryRun: false }
const instance = { ...content, id: 'i', platform: 'default', dashboardToken: 't', observed: true }
const binding = { ...content, id: 'b', bindResource: {}, result: {} }
const row: Instance = {
  ...content,
  id: 'i',
  platform: 'default',
  dashboardToken: 't',
  phase: 'ready',
  created: true,
  usable: true,
  conditions: [],
  lastOperationId: 'x',
  createdAt: 1,
  updatedAt: 1,
}
const bound: Binding = {
  ...binding,
  instanceId: 'i',
  phase: 'deleted',
  lastOperationId: 'x',
  createdAt: 1,
  updatedAt: 1,
}
const sweep = newOperation({ ...ids, operationId: 'w', instanceId: 'i', requestHash: '', timeout: 1 }, 'sweep', 1)

function snapshot(more: Partial<Snapshot> = {}): Snapshot {
  return { now, liveBindings: 0, busyBindings: 0, sweptBindings: 0, ...more }
}

describe('adopting an instance', () => {
  const adopt = (given: Snapshot) => decideAdopt(given, { ...acting, instance, bindings: [binding] })

  it('makes it ready, and looks at it soon where its service can', () => {
    expect(adopt(snapshot()).change).toMatchObject({
      instance: { phase: 'ready', usable: true, created: true, observeAt: now, createdAt: now },
      bindings: [{ id: 'b', phase: 'ready' }],
      operations: [
        { state: 'succeeded', action: 'provision' },
        { state: 'succeeded', action: 'bind' },
      ],
    })
  })

  it.each<[string, Partial<Snapshot>]>([
    ['its deletion is swept', { instance: { ...row, phase: 'deleted' }, operation: sweep }],
    ['that of a binding is', { instance: { ...row, phase: 'deleted' }, sweptBindings: 1 }],
    ['a call may still land', { instance: { ...row, phase: 'deleted', uncleanUntil: now + 1 } }],
  ])('is refused while %s', (_, more) => {
    expect(() => adopt(snapshot(more))).toThrow(/still being swept/)
  })

  it('is refused where a provision of it has failed here', () => {
    expect(() => adopt(snapshot({ instance: { ...row, phase: 'failed', created: false } }))).toThrow(/: created differ/)
  })
})

describe('adopting a binding', () => {
  const adopt = (given: Partial<Snapshot>) =>
    decideAdoptBinding(snapshot({ instance: row, ...given }), { ...acting, instanceId: 'i', binding })

  it('is refused while its instance is updated, and not while it is observed', () => {
    expect(() => adopt({ operation: { ...sweep, action: 'update' } })).toThrow(/its update is still in progress/)
    expect(adopt({ operation: { ...sweep, action: 'observe' } }).answer).toBe('adopted')
  })

  it.each<[string, Partial<Snapshot>]>([
    ['its deletion is swept', { bindingOperation: sweep, binding: bound }],
    ['a call may still land', { binding: { ...bound, uncleanUntil: now + 1 } }],
  ])('is refused while %s', (_, more) => {
    expect(() => adopt(more)).toThrow(/still being swept/)
  })

  it('is refused with another plan than that of its instance', () => {
    expect(() => adopt({ instance: { ...row, planId: 'other' } })).toThrow(/not those of the instance/)
  })
})
