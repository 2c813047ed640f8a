import { describe, expect, it } from 'vitest'
import type { Metadata } from '../../kubernetes/objects.ts'
import { type FoundObject, toItems } from './held.ts'
import { managerOf, ownMetadata } from './refs.ts'

const by = { broker: 'ledger-1', service: 's' }

interface Given extends Partial<Metadata> {
  readonly instance?: string
  readonly binding?: string
  readonly shared?: string
  readonly order?: number
  readonly broker?: string
}

function found(name: string, given: Given = {}): FoundObject {
  const { instance = 'i', binding, shared, order = 0, broker = by.broker, ...metadata } = given
  const owner = { ...by, broker, instance, binding }
  const managedFields = [{ manager: managerOf(owner, shared), operation: 'Apply' }]
  const own = ownMetadata(owner, { shared, order })
  const common = { name, namespace: 'team', uid: name, creationTimestamp: '2026-01-01T00:00:00Z', managedFields }
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { ...common, ...own, ...metadata } }
}

function namesIn(objects: readonly FoundObject[]) {
  return toItems(objects, by).map(({ instanceId, bindingId, state }) => {
    const refs = state?.objects as unknown as readonly { readonly object: string }[]
    return [[instanceId, bindingId].filter(Boolean).join('/'), ...refs.map(({ object }) => object)]
  })
}

describe('what is held in a cluster', () => {
  it('is an item for each instance with all that goes with it, and one for each binding', () => {
    const objects = [
      found('login', { binding: 'b' }),
      found('second', { order: 1 }),
      found('first'),
      found('other', { instance: 'j', binding: 'c' }),
    ]
    expect(namesIn(objects)).toEqual([
      ['i', 'first', 'second', 'login'],
      ['i/b', 'login'],
      ['j', 'other'],
      ['j/c', 'other'],
    ])
  })

  it('is in the order in which it was made', () => {
    const orders = [10, 2, 0]
    expect(namesIn(orders.map(order => found(`o-${order}`, { order })))).toEqual([['i', 'o-0', 'o-2', 'o-10']])
  })

  it('is as young as the youngest object', () => {
    const objects = [found('young', { creationTimestamp: '2026-03-01T00:00:00Z' }), found('old', { order: 1 })]
    expect(toItems(objects, by)[0]?.createdAt).toBe(Date.UTC(2026, 2, 1))
  })

  it('is none of what others have made, and none of what instances share', () => {
    const { annotations } = found('x').metadata
    const others = [
      found('of another broker', { broker: 'ledger-2' }),
      found('a copy', { managedFields: [{ manager: 'kubectl', operation: 'Update' }] }),
      found('shared', { shared: 'claim' }),
      found('shared, with annotations of its template', { shared: 'claim', annotations }),
      found('with another binding', { annotations: { ...annotations, 'purser.dev/binding': 'b' } }),
    ]
    expect(toItems(others, by)).toEqual([])
  })

  it('is one thing where the cluster serves it in two versions', () => {
    const one = found('one')
    expect(namesIn([one, { ...one, apiVersion: 'v2' }])).toEqual([['i', 'one']])
  })
})
