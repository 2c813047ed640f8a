/** What of the objects in a cluster is whose. Pure. */
import type { BackendItem } from '../../author/backend.ts'
import { groupBy } from '../../domain/catalog-state.ts'
import type { Metadata } from '../../kubernetes/objects.ts'
import type { Made } from './parts.ts'
import {
  bindingAnnotation,
  instanceAnnotation,
  managerOf,
  type Owner,
  orderAnnotation,
  type Ref,
  toJsonRefs,
} from './refs.ts'

export interface FoundObject extends Made {
  readonly metadata: Metadata
}

interface Held {
  readonly instance: string
  readonly binding?: string | undefined
  readonly ref: Ref
  readonly order: number
  readonly createdAt: number
}

/**
 * An item for each instance that has something, and for each of its bindings. An instance that nobody has takes its bindings with
 * it, so its item names their objects too. What several instances have is nobody's own and is left out.
 */
export function toItems(found: readonly FoundObject[], by: Pick<Owner, 'broker' | 'service'>): readonly BackendItem[] {
  // One that the cluster serves in two versions is found twice.
  const once = new Map(found.map(one => [one.metadata.uid, one]))
  const held = [...once.values()].flatMap(one => toHeld(one, by) ?? [])
  const instances = groupBy(held.toSorted(inOrder), ({ instance }) => instance)
  return [...instances].flatMap(([instanceId, all]) => {
    const bound = all.filter(({ binding }) => binding !== undefined)
    const bindings = groupBy(bound, ({ binding = '' }) => binding)
    const items = [...bindings].map(([bindingId, some]) => ({ instanceId, bindingId, ...describe(some) }))
    return [{ instanceId, ...describe(all) }, ...items]
  })
}

/** Undefined where this broker has not made it for one instance alone. */
function toHeld({ apiVersion, kind, metadata }: FoundObject, by: Pick<Owner, 'broker' | 'service'>): Held | undefined {
  const { name = '', namespace, annotations = {}, managedFields = [], creationTimestamp = '' } = metadata
  const { [instanceAnnotation]: instance, [bindingAnnotation]: binding, [orderAnnotation]: order } = annotations
  if (instance === undefined) return undefined
  const owner: Owner = { ...by, instance, binding }
  // Only this tells: a copy has the same labels and annotations, and was not applied by us.
  const isMade = managedFields.some(({ manager, operation }) => operation === 'Apply' && manager === managerOf(owner))
  if (!isMade) return undefined
  const ref: Ref = { name, mode: 'object', apiVersion, kind, namespace, object: name, binding }
  return { instance, binding, ref, order: Number(order) || 0, createdAt: Date.parse(creationTimestamp) }
}

/** As they were made: they are removed the other way round, the bindings' before the instance's. */
function inOrder(a: Held, b: Held): number {
  const rank = ({ binding }: Held) => (binding === undefined ? 0 : 1)
  return rank(a) - rank(b) || a.order - b.order || a.createdAt - b.createdAt
}

/** As young as the youngest of them: somebody may still be at work on it. */
function describe(held: readonly Held[]): Omit<BackendItem, 'instanceId' | 'bindingId'> {
  const names = held.map(({ ref }) => [ref.kind, [ref.namespace, ref.object].filter(Boolean).join('/')].join(' '))
  const [name = '', ...others] = names
  const more = others.length > mostNamed ? ' …' : ''
  return {
    name,
    createdAt: Math.max(...held.map(({ createdAt }) => createdAt)),
    state: { objects: toJsonRefs(held.map(({ ref }) => ref)) },
    ...(others.length > 0 && { detail: `With ${others.slice(0, mostNamed).join(', ')}${more}.` }),
  }
}

const mostNamed = 20
