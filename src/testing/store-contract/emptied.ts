import type { Change, Finishing, Operation, Step, Store } from '../../store.ts'
import { assert } from './assert.ts'
import { bind, claimOne, instanceRow, leaseOf, operationRow, provision, stepRow } from './rows.ts'
import { durableStoreCase, storeCase } from './subject.ts'

const emptyDone = stepRow('done', { shown: { log: 'printed' } })
const failed = stepRow('failed', { state: 'failed', error: 'no' })
const input = { planId: 'plan', parameters: { password: 'canary' } }
const identity = { platform: 'cf', value: { user_id: 'canary' } }

/** Runs what is due: a step that is done, one that has failed, and the end, with what it means for the resource. */
async function run(store: Store, resource: (snapshot: Finishing) => Change = () => ({})): Promise<void> {
  const lease = leaseOf(await claimOne(store))
  for (const step of [{ ...emptyDone, output: 'canary' }, failed])
    assert.equal(await store.checkpoint(lease, { step }), true)
  const ended = await store.finish(lease, snapshot => ({
    ...resource(snapshot),
    operations: [{ ...snapshot.finishing, state: 'succeeded', description: 'done', finishedAt: snapshot.now }],
    history: [{ at: snapshot.now, type: 'succeeded', instanceId: snapshot.finishing.instanceId }],
  }))
  assert.equal(ended, true)
}

/** An instance with the bindings `b` and `c`: three operations that have ended. */
async function stand(store: Store, id: string): Promise<readonly string[]> {
  const operations = [await provision(store, id, { input, identity })]
  await run(store, ({ instance }) => ({ instance: instance && { ...instance, phase: 'ready' } }))
  for (const binding of ['b', 'c']) {
    operations.push(await bind(store, id, binding, { input, identity }))
    await run(store, readyBinding)
  }
  return operations
}

function readyBinding({ binding }: Finishing): Change {
  return { bindings: binding && [{ ...binding, phase: 'ready' }] }
}

function deletedBinding({ binding, now }: Finishing): Change {
  return { bindings: binding && [{ ...binding, phase: 'deleted', deletedAt: now }] }
}

function deletedInstance({ instance, now }: Finishing): Change {
  return { instance: instance && { ...instance, phase: 'deleted', deletedAt: now } }
}

/** A deletion is accepted; nothing but the operation is written. */
async function begin(store: Store, instanceId: string, more: Partial<Operation>): Promise<string> {
  const operation = operationRow(`${instanceId}:${more.bindingId ?? ''}:${more.action}`, instanceId, { input, ...more })
  const target = { instanceId, bindingId: more.bindingId }
  return store.accept(target, () => ({ answer: operation.id, change: { operations: [operation] } }))
}

type Kept = readonly [Operation | undefined, readonly Step[]]

function keptOf(store: Store, ids: readonly string[]): Promise<readonly Kept[]> {
  return Promise.all(ids.map(async id => [await store.operation(id), await store.steps(id)] as const))
}

/** As it is without what was sealed. */
function empty([operation, steps]: Kept): Kept {
  const { identity: _identity, requestHash: _hash, ...kept } = operation ?? {}
  return [operation && ({ ...kept, input: {} } as Operation), steps.map(({ output: _output, ...step }) => step)]
}

async function holdsCanary(store: Store, ids: readonly string[]): Promise<boolean> {
  return JSON.stringify(await keptOf(store, ids)).includes('canary')
}

export const emptiedCases = [
  storeCase('deleted: an instance takes along what its operations and its bindings’ have kept', async ({ store }) => {
    const neighbours = await stand(store, 'j')
    const operations = await stand(store, 'i')
    const before = await keptOf(store, operations)
    const [besides, history] = [await keptOf(store, neighbours), await store.history('i')]
    const deletion = await begin(store, 'i', { action: 'deprovision' })
    assert.deepEqual(await keptOf(store, operations), before)
    await run(store, deletedInstance)

    assert.deepEqual(await keptOf(store, operations), before.map(empty))
    const [[ended, steps] = []] = await keptOf(store, [deletion])
    assert.deepEqual([ended?.state, ended?.description, ended?.input], ['succeeded', 'done', {}])
    assert.deepEqual([ended?.requestHash, ended?.identity], [undefined, undefined])
    assert.deepEqual(steps, [emptyDone, failed])
    assert.equal((await store.history('i')).length, history.length + 1)
    assert.deepEqual(await keptOf(store, neighbours), besides)
  }),

  storeCase('deleted: a binding takes along what its operations have kept, and no others', async ({ store }) => {
    const [provisioned = '', bound = '', other = ''] = await stand(store, 'i')
    const [before] = await keptOf(store, [bound])
    const besides = await keptOf(store, [provisioned, other])
    const deletion = await begin(store, 'i', { action: 'unbind', bindingId: 'b' })
    await run(store, deletedBinding)
    assert.ok(before)
    assert.deepEqual(await keptOf(store, [bound]), [empty(before)])
    assert.equal(await holdsCanary(store, [deletion]), false)
    assert.deepEqual(await keptOf(store, [provisioned, other]), besides)
  }),

  storeCase('deleted: what is still active keeps what it needs, until it has ended', async ({ store }) => {
    const operations = await stand(store, 'i')
    await begin(store, 'i', { action: 'deprovision' })
    const sweep = operationRow('sweep', 'i', { action: 'sweep', input: { unbind: ['b'] } })
    const lease = leaseOf(await claimOne(store))
    await store.finish(lease, snapshot => ({
      ...deletedInstance(snapshot),
      operations: [{ ...snapshot.finishing, state: 'succeeded', finishedAt: snapshot.now }, sweep],
    }))
    assert.equal(await holdsCanary(store, [...operations, lease.operationId]), false)
    assert.deepEqual(await store.operation('sweep'), sweep)
    const { operation } = await claimOne(store)
    assert.deepEqual([operation.id, operation.input], ['sweep', { unbind: ['b'] }])
    const step = stepRow('done', { output: 'canary' })
    assert.equal(await store.checkpoint({ operationId: 'sweep', fence: operation.fence }, { step }), true)
    await store.accept({ instanceId: 'i' }, ({ instance }) => ({ answer: 0, change: { instance } }))
    assert.deepEqual((await store.operation('sweep'))?.input, sweep.input)
    assert.deepEqual(await store.steps('sweep'), [step])
    await store.finish({ operationId: 'sweep', fence: operation.fence }, ({ finishing, now }) => ({
      operations: [{ ...finishing, state: 'failed', finishedAt: now }],
    }))
    assert.deepEqual((await store.operation('sweep'))?.input, {})
    assert.deepEqual(await store.steps('sweep'), [stepRow('done')])
  }),

  storeCase('deleted: what an accept ends goes the same way, a lease that stands or not', async ({ store }) => {
    const operations = await stand(store, 'i')
    const ending = await begin(store, 'i', { action: 'update' })
    const lease = leaseOf(await claimOne(store))
    await store.checkpoint(lease, { step: stepRow('done', { output: 'canary' }) })
    await store.accept({ instanceId: 'i' }, snapshot => {
      const { operation, instance, now } = snapshot
      assert.ok(operation && instance)
      const operations = [{ ...operation, state: 'superseded', finishedAt: now } as const]
      return { answer: 0, change: { ...deletedInstance({ ...snapshot, finishing: operation }), operations } }
    })
    assert.equal(await holdsCanary(store, [...operations, ending]), false)
    assert.equal(await store.checkpoint(lease, { step: stepRow('late', { output: 'canary' }) }), false)
    await store.handBack(lease)
    assert.equal(await holdsCanary(store, [ending]), false)
  }),

  storeCase('deleted: what is created under the id again keeps its own', async ({ store, clock }) => {
    const old = await stand(store, 'i')
    await begin(store, 'i', { action: 'deprovision' })
    await run(store, deletedInstance)
    const operation = operationRow('again', 'i', { input })
    await store.accept({ instanceId: 'i' }, () => ({
      answer: 0,
      change: { instance: instanceRow('i', { lastOperationId: 'again' }), operations: [operation] },
    }))
    await run(store, ({ instance }) => ({ instance: instance && { ...instance, phase: 'ready' } }))
    await clock.advance(1)
    assert.deepEqual((await store.operation('again'))?.input, input)
    assert.equal((await store.steps('again')).find(({ name }) => name === 'done')?.output, 'canary')
    assert.equal(await holdsCanary(store, old), false)
  }),

  durableStoreCase('deleted: nothing of it comes back when the store is opened again', async ({ store, reopen }) => {
    const operations = await stand(store, 'i')
    await begin(store, 'i', { action: 'deprovision' })
    await run(store, deletedInstance)
    assert.equal(await holdsCanary(await reopen(), operations), false)
  }),
]
