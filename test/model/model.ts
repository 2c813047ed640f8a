/**
 * What a platform may expect, written down from the OSB API's concurrency matrix and our own choices, and on purpose
 * without a line of the code it judges.
 */
export interface Pending {
  readonly operation: string
  readonly action: 'provision' | 'update' | 'deprovision' | 'bind' | 'unbind'
  /** Which variant of the request is running: a repeated one is the same request. */
  readonly variant?: string
}

export interface Resource {
  there: 'absent' | 'present' | 'failed'
  /** Which of the two sets of attributes it was asked for with. */
  variant: string
  pending?: Pending
  /** A deletion failed half-way: what is left in the backend is nobody's promise. */
  damaged: boolean
  /** What the last creation or update that succeeded has set; undefined after one that failed half-way. */
  value?: string
  /** Bindings need it: the last creation or update did not break the instance. */
  usable: boolean
}

export interface InstanceModel extends Resource {
  readonly bindings: Map<string, Resource>
}

/** `new`: 202 and an operation that was never seen; `same`: 202 and the pending one again. */
export type Expected = number | 'new' | 'same'

export function createResource(): Resource {
  return { there: 'absent', variant: '', damaged: false, usable: false }
}

/** A sweep of what was deleted under this id refuses nothing: the operation waits for it. */
export function expectProvision(instance: InstanceModel, variant: string): Expected {
  if (isAbsent(instance)) return 'new'
  if (instance.variant !== variant) return 409
  if (instance.pending?.action === 'provision') return 'same'
  if (instance.pending !== undefined) return 422
  return instance.there === 'present' ? 200 : 'new'
}

export function expectUpdate(instance: InstanceModel, variant: string, isBound: boolean): Expected {
  if (isAbsent(instance)) return 404
  if (instance.pending?.action === 'update' && instance.pending.variant === variant) return 'same'
  if (instance.pending !== undefined || isBound) return 422
  return instance.there === 'present' ? 'new' : 422
}

/**
 * Sweeps of its bindings refuse nothing: the operation waits for them. `unbegun`: the broker is still looking for what the
 * last owner of this id may have left, so that nothing has to be deleted.
 */
export function expectDeprovision(instance: InstanceModel, isBound: boolean, unbegun: boolean): Expected {
  if (isAbsent(instance)) return 410
  if (unbegun) return 200
  if (instance.pending?.action === 'deprovision') return 'same'
  const live = [...instance.bindings.values()].some(({ there }) => there === 'present')
  return isBound || live ? 422 : 'new'
}

export function expectBind(instance: InstanceModel, binding: Resource, variant: string): Expected {
  if (isAbsent(instance)) return 404
  if (!isAbsent(binding)) {
    if (binding.variant !== variant) return 409
    if (binding.pending?.action === 'bind') return 'same'
    if (binding.pending === undefined && binding.there === 'present') return 200
  }
  if (binding.pending !== undefined || instance.pending !== undefined) return 422
  return instance.usable ? 'new' : 422
}

export function expectUnbind(instance: InstanceModel, binding: Resource, unbegun: boolean): Expected {
  if (isAbsent(instance) || isAbsent(binding)) return 410
  if (unbegun) return 200
  if (binding.pending?.action === 'unbind') return 'same'
  return instance.pending === undefined ? 'new' : 422
}

export function isAbsent({ there, pending }: Resource): boolean {
  return there === 'absent' && pending === undefined
}

/** The pending operation has ended. */
export function applyEnd(resource: Resource, state: 'succeeded' | 'failed'): void {
  const { pending } = resource
  if (pending === undefined) return
  delete resource.pending
  const { action, variant } = pending
  delete resource.value
  if (state === 'succeeded' && variant !== undefined) resource.value = variant
  if (action === 'provision' || action === 'bind') {
    resource.there = state === 'succeeded' ? 'present' : 'failed'
    resource.usable = state === 'succeeded'
  } else if (action === 'deprovision' || action === 'unbind') {
    if (state === 'succeeded') Object.assign(resource, createResource())
    else resource.damaged = true
    if (state === 'failed' && action === 'unbind') resource.there = 'failed'
    if (state === 'failed' && action === 'deprovision' && !resource.usable) resource.there = 'failed'
  }
}

/** A request was answered 202 with a new operation. */
export function applyAccepted(resource: Resource, pending: Pending): void {
  if (pending.action === 'provision' || pending.action === 'bind') {
    resource.variant = pending.variant ?? ''
    resource.usable = false
  }
  // A deletion in the middle of a creation: what there was before is not there any more.
  if (resource.pending?.action === 'provision' || resource.pending?.action === 'bind') resource.there = 'failed'
  resource.pending = pending
}
