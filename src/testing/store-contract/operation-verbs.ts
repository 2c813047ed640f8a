/** What operators do to one operation: the table, and what each verb writes. */

import { decideDeprovision } from '../../domain/decide-deprovision.ts'
import { decideFail, decideHold, decideRelease, decideRetry, decideRunNow } from '../../domain/decide-verb.ts'
import { settleHeld } from '../../domain/hold.ts'
import type { Intent } from '../../domain/intent.ts'
import { allowed, type OperationVerb, operationVerbs } from '../../domain/judge-verb.ts'
import { type Action, actions } from '../../protocol/actions.ts'
import { BrokerError } from '../../protocol/errors.ts'
import type { Operation, OperationState, Store } from '../../store.ts'
import { assert } from './assert.ts'
import { change, revisionRow } from './catalog-rows.ts'
import { bindingRow, claimOne, finish, leaseOf, leaseTime, operationRow, standing, stepRow, view } from './rows.ts'
import { storeCase } from './subject.ts'

const acting = { by: 'ops', reason: 'it is stuck', cascade: false }
const states: readonly OperationState[] = ['queued', 'running', 'succeeded', 'failed', 'superseded']
const platforms = 'provision update deprovision bind unbind'
const undone = 'provision update bind observe'

/** The actions of which a verb is allowed, by the state of the operation. Everything else is refused. */
const table: Readonly<Record<OperationVerb, Partial<Record<OperationState | 'held', string>>>> = {
  retry: { failed: platforms, held: platforms },
  cancel: { queued: undone, held: undone, running: undone },
  fail: { queued: platforms, held: platforms, running: platforms },
  hold: { queued: platforms },
  release: { held: platforms },
  'run-now': { queued: `${platforms} observe` },
}

function isBindings(action: Action): boolean {
  return action === 'bind' || action === 'unbind'
}

function targetOf({ instanceId, bindingId }: Operation) {
  return { instanceId, bindingId }
}

/** An operation that has begun, and is parked for a minute where it is queued. It is the latest one of its resource. */
async function inState(
  store: Store,
  id: string,
  overrides: Pick<Operation, 'action' | 'state'> & Partial<Operation>,
): Promise<Operation> {
  const { action } = overrides
  const instanceId = `i-${id}`
  const bindingId = isBindings(action) ? 'b' : undefined
  await standing(store, instanceId, { lastOperationId: id })
  await store.accept({ instanceId, bindingId }, ({ now }) => {
    const isOver = ['succeeded', 'failed', 'superseded'].includes(overrides.state)
    const row = operationRow(id, instanceId, {
      bindingId,
      attempt: 1,
      notBefore: now + 60_000,
      leaseUntil: overrides.state === 'running' ? now + leaseTime : undefined,
      finishedAt: isOver ? now : undefined,
      ...overrides,
    })
    const bindings = bindingId === undefined ? [] : [bindingRow(instanceId, bindingId, { lastOperationId: id })]
    return { answer: undefined, change: { bindings, operations: [row] } }
  })
  const found = await store.operation(id)
  assert.ok(found)
  return found
}

async function isAllowed(store: Store, verb: OperationVerb, operation: Operation): Promise<boolean> {
  try {
    return await store.accept(targetOf(operation), snapshot => {
      allowed(verb, operation, snapshot, acting)
      return { answer: true }
    })
  } catch (error) {
    assert.ok(
      error instanceof BrokerError && error.code === 'VerbRefused' && /\S\.$/.test(error.message),
      String(error),
    )
    return false
  }
}

function begin(operationId: string, { instanceId }: Operation): Intent {
  const base = { operationId, instanceId, serviceId: 'service', requestHash: 'other', timeout: 60_000 }
  return { ...base, platform: 'cf', acceptsIncomplete: true, mode: 'auto', sweepDelay: 1_000, landsWithin: 1_000 }
}

export const operationVerbCases = [
  ...operationVerbs.map(verb =>
    storeCase(`verbs: ${verb} is allowed as the table says, whatever the state and the action`, async ({ store }) => {
      for (const standing of [...states, 'held'] as const)
        for (const action of actions) {
          // Nobody can hold what no platform waits for.
          if (standing === 'held' && !platforms.split(' ').includes(action)) continue
          const given = standing === 'held' ? ({ state: 'queued', hold: { since: 0 } } as const) : { state: standing }
          const operation = await inState(store, `${standing}-${action}`, { action, ...given })
          const expected = table[verb][standing]?.split(' ').includes(action) === true
          assert.equal(await isAllowed(store, verb, operation), expected, `${verb}: a ${action} that is ${standing}`)
        }
    }),
  ),

  storeCase('verbs: run-now makes a parked operation due, and only one that has begun', async ({ store }) => {
    const fresh = await inState(store, 'fresh', { action: 'provision', state: 'queued', attempt: 0 })
    assert.equal(await isAllowed(store, 'run-now', fresh), false)
    const operation = await inState(store, 'o', { action: 'update', state: 'queued' })
    assert.deepEqual((await store.claim('worker', 10, leaseTime)).claims, [])
    await store.accept(targetOf(operation), snapshot => decideRunNow(snapshot, { ...acting, operation }))
    assert.equal(await isAllowed(store, 'run-now', operation), false)
    assert.equal((await claimOne(store)).operation.id, 'o')
    const [event] = await store.history('i-o')
    assert.deepEqual([event?.type, event?.verb, event?.by, event?.reason], ['acted', 'run-now', 'ops', 'it is stuck'])
  }),

  storeCase(
    'verbs: an operation that is failed while it runs waits for the end of its lease',
    async ({ store, clock }) => {
      await inState(store, 'o', { action: 'provision', state: 'queued', notBefore: 0 })
      const lease = leaseOf(await claimOne(store))
      const operation = await store.operation('o')
      assert.ok(operation)
      const decide = () =>
        store.accept(targetOf(operation), snapshot =>
          decideFail(snapshot, { ...acting, operation, message: 'no room' }),
        )
      await decide()
      await assert.rejects(decide(), { code: 'VerbRefused' })
      const seen = await view(store, 'i-o', 'o')
      assert.deepEqual(await store.renew([lease], leaseTime), [])
      assert.equal(await store.checkpoint(lease, { step: stepRow('late') }), false)
      assert.equal(await finish(store, lease), false)
      await store.handBack(lease)
      assert.deepEqual(await view(store, 'i-o', 'o'), seen)
      assert.deepEqual((await store.claim('worker', 10, leaseTime)).claims, [])
      await clock.advance(leaseTime)
      const claimed = await claimOne(store)
      assert.deepEqual(claimed.operation.error, { message: 'no room' })
      assert.equal(claimed.operation.unclean, true)
      assert.ok(claimed.operation.deadlineAt <= clock.now())
    },
  ),

  storeCase('verbs: what is held is not claimed before its deadline, and a release makes it due', async subject => {
    const { store, clock } = subject
    const deadlineAt = clock.now() + 120_000
    const held = async (id: string) => {
      const operation = await inState(store, id, { action: 'update', state: 'queued', drains: 'before', deadlineAt })
      await store.accept(targetOf(operation), snapshot => decideHold(snapshot, { ...acting, operation }))
      // Whoever hands back what it took over from makes it due no more.
      await store.accept(targetOf(operation), () => ({
        answer: undefined,
        change: { operations: [operationRow('before', `i-${id}`, { state: 'superseded', fence: 1, bindingId: 'x' })] },
      }))
      await store.handBack({ operationId: 'before', fence: 1 })
      return operation
    }
    const operation = await held('o')
    assert.deepEqual((await store.claim('worker', 10, leaseTime)).claims, [])
    assert.deepEqual((await store.listOperations({ state: 'queued' })).items[0]?.hold, {
      since: clock.now(),
      by: 'ops',
    })
    await store.accept(targetOf(operation), snapshot => decideRelease(snapshot, { ...acting, operation }))
    assert.equal(await isAllowed(store, 'release', operation), false)
    const claimed = await claimOne(store)
    assert.deepEqual([claimed.operation.id, claimed.operation.hold], ['o', undefined])
    assert.equal(claimed.operation.released?.times, 1)
    assert.equal(claimed.operation.checkpointAt, claimed.operation.released?.at)
    assert.deepEqual(
      (await store.history('i-o')).map(({ verb, by, reason }) => [verb, by, reason]),
      [
        ['hold', 'ops', 'it is stuck'],
        ['release', 'ops', 'it is stuck'],
      ],
    )
    const late = await held('late')
    await clock.advance(120_000)
    assert.equal(await isAllowed(store, 'release', late), false)
    const due = (await store.claim('worker', 10, leaseTime)).claims.find(({ operation: { id } }) => id === 'late')
    assert.equal(due?.operation.hold?.by, 'ops')
  }),

  storeCase('verbs: a worker holds what it runs by its end, and a lost lease holds nothing', async subject => {
    const { store, clock } = subject
    await inState(store, 'o', { action: 'provision', state: 'queued', notBefore: 0, deadlineAt: clock.now() + 60_000 })
    const lease = leaseOf(await claimOne(store))
    await store.checkpoint(lease, { step: stepRow('create', { state: 'failed', error: 'no' }) })
    const hold = (held: typeof lease) =>
      store.finish(held, snapshot => settleHeld(snapshot, { message: 'no room' }, 'held'))
    assert.equal(await hold({ ...lease, fence: lease.fence - 1 }), false)
    assert.equal(await hold(lease), true)
    assert.equal(await hold(lease), false)
    assert.deepEqual(await store.renew([lease], leaseTime), [])
    const row = await store.operation('o')
    assert.deepEqual(
      [row?.state, row?.notBefore, row?.hold?.error],
      ['queued', row?.deadlineAt, { message: 'no room' }],
    )
    assert.deepEqual([row?.leaseOwner, row?.leaseUntil], [undefined, undefined])
    assert.deepEqual((await store.claim('worker', 10, leaseTime)).claims, [])
    assert.equal((await store.steps('o')).length, 1)
    assert.deepEqual(
      (await store.history('i-o')).map(({ type, message }) => [type, message]),
      [['held', 'no room']],
    )
  }),

  storeCase(
    'verbs: of two operators who decide at once about what is held, one is refused',
    async ({ store, clock }) => {
      const deadlineAt = clock.now() + 60_000
      for (const [index, rivals] of [
        ['release', 'release'],
        ['fail', 'fail'],
        ['release', 'retry'],
      ].entries()) {
        const operation = await inState(store, `o${index}`, {
          action: 'update',
          state: 'queued',
          deadlineAt,
          hold: { since: 0 },
        })
        const decide = (verb: string) =>
          store.accept(targetOf(operation), snapshot =>
            verb === 'fail'
              ? decideFail(snapshot, { ...acting, operation, message: 'no' })
              : decideRelease(snapshot, { ...acting, operation }, verb as 'release' | 'retry'),
          )
        const ended = await Promise.allSettled(rivals.map(decide))
        assert.deepEqual(ended.map(({ status }) => status).toSorted(), ['fulfilled', 'rejected'], rivals.join())
        assert.equal((await store.history(`i-o${index}`)).length, 1)
      }
    },
  ),

  storeCase('verbs: of an operator who holds and a worker who claims, one is first', async ({ store, clock }) => {
    const deadlineAt = clock.now() + 60_000
    for (let round = 0; round < 8; round += 1) {
      const id = `o${round}`
      const operation = await inState(store, id, { action: 'update', state: 'queued', notBefore: 0, deadlineAt })
      const [held, { claims }] = await Promise.all([
        store
          .accept(targetOf(operation), snapshot => decideHold(snapshot, { ...acting, operation }))
          .then(
            () => true,
            error => !(error instanceof BrokerError) && Promise.reject(error),
          ),
        store.claim('worker', 10, leaseTime),
      ])
      assert.equal(
        claims.some(claim => claim.operation.id === id),
        !held,
      )
      const row = await store.operation(id)
      assert.deepEqual([row?.state, row?.hold !== undefined], held ? ['queued', true] : ['running', false])
    }
  }),

  storeCase('verbs: of a release and a DELETE of the platform, both are right', async ({ store, clock }) => {
    const deadlineAt = clock.now() + 60_000
    for (let round = 0; round < 8; round += 1) {
      const id = `o${round}`
      const operation = await inState(store, id, {
        action: 'provision',
        state: 'queued',
        deadlineAt,
        hold: { since: 0 },
      })
      const deletion = { ...begin(`d${round}`, operation), cascade: false, forceUnknown: false }
      const release = store
        .accept(targetOf(operation), snapshot => decideRelease(snapshot, { ...acting, operation }))
        .catch(error => assert.ok(error instanceof BrokerError))
      await Promise.all([release, store.accept(targetOf(operation), snapshot => decideDeprovision(snapshot, deletion))])
      const row = await store.operation(id)
      assert.deepEqual([row?.state, row?.hold], ['superseded', undefined])
      const { claims } = await store.claim('worker', 10, leaseTime)
      assert.deepEqual(
        claims.map(({ operation: { id: claimed } }) => claimed),
        [`d${round}`],
      )
    }
  }),

  storeCase('verbs: a retry is a new operation with the steps that were done', async ({ store }) => {
    await inState(store, 'o', { action: 'update', state: 'queued', notBefore: 0, input: { planId: 'large' } })
    const lease = leaseOf(await claimOne(store))
    await store.checkpoint(lease, { step: stepRow('first', { output: { secret: 1 } }) })
    await store.checkpoint(lease, { step: stepRow('second') })
    await store.checkpoint(lease, { step: stepRow('third', { state: 'failed', error: 'no' }) })
    await store.finish(lease, ({ finishing, now }) => ({
      operations: [{ ...finishing, state: 'failed', finishedAt: now, error: { message: 'no' } }],
    }))
    const operation = await store.operation('o')
    assert.ok(operation)
    const retry = (id: string) =>
      store.accept(targetOf(operation), snapshot =>
        decideRetry(snapshot, { ...acting, operation, begin: begin(id, operation) }),
      )
    await retry('again')
    await assert.rejects(retry('once more'), { code: 'VerbRefused' })
    assert.equal(await store.operation('once more'), undefined)
    assert.deepEqual(await store.operation('o'), operation)
    const claimed = await claimOne(store)
    const { id, action, retryOf, input, requestHash, attempt } = claimed.operation
    assert.deepEqual(
      { id, action, retryOf, input, requestHash, attempt },
      {
        id: 'again',
        action: 'update',
        retryOf: 'o',
        input: { planId: 'large' },
        requestHash: 'hash',
        attempt: 1,
      },
    )
    assert.deepEqual(claimed.steps, [stepRow('first', { output: { secret: 1 } }), stepRow('second')])
    assert.deepEqual(await store.steps('again'), claimed.steps)
    assert.equal((await store.steps('o')).length, 3)
    assert.equal((await store.instance('i-o'))?.lastOperationId, 'again')
    assert.equal((await store.instance('i-o'))?.phase, 'updating')
    assert.deepEqual(
      (await store.history('i-o')).map(({ type, operationId }) => [type, operationId]),
      [
        ['acted', 'again'],
        ['accepted', 'again'],
      ],
    )
    await store.checkpoint(leaseOf(claimed), { step: stepRow('third') })
    assert.equal((await store.steps('again')).length, 3)
  }),

  storeCase('verbs: a retry of a bundle begins from its beginning', async ({ store }) => {
    await change(store, { insertRevisions: [revisionRow('r')] })
    const operation = await inState(store, 'o', { action: 'deprovision', state: 'failed' })
    await standing(store, 'i-o', { revisionId: 'r', lastOperationId: 'o' })
    await store.accept(targetOf(operation), snapshot =>
      decideRetry(snapshot, { ...acting, operation, begin: begin('again', operation) }),
    )
    assert.deepEqual((await claimOne(store)).steps, [])
    assert.equal((await store.instance('i-o'))?.phase, 'deleting')
  }),

  storeCase('verbs: a retry of a deletion in doubt removes everything once more', async ({ store }) => {
    for (const unclean of [false, true]) {
      const id = `doubt-${unclean}`
      await inState(store, id, { action: 'deprovision', state: 'queued', notBefore: 0 })
      const lease = leaseOf(await claimOne(store))
      await store.checkpoint(lease, { step: stepRow('drop') })
      await store.finish(lease, ({ finishing, now }) => ({
        operations: [{ ...finishing, state: 'failed', finishedAt: now, unclean }],
      }))
      const operation = await store.operation(id)
      assert.ok(operation)
      await store.accept(targetOf(operation), snapshot =>
        decideRetry(snapshot, { ...acting, operation, begin: begin(`${id}-again`, operation) }),
      )
      assert.equal((await claimOne(store)).steps.length, unclean ? 0 : 1)
    }
  }),

  storeCase('verbs: what has followed, is busy or is gone is not tried again', async ({ store }) => {
    const operation = await inState(store, 'o', { action: 'deprovision', state: 'failed' })
    assert.equal(await isAllowed(store, 'retry', operation), true)
    await standing(store, 'i-o', { lastOperationId: 'later' })
    assert.equal(await isAllowed(store, 'retry', operation), false)
    await standing(store, 'i-o', { lastOperationId: 'o', phase: 'deleted', deletedAt: 1 })
    assert.equal(await isAllowed(store, 'retry', operation), false)
    await standing(store, 'i-o', { lastOperationId: 'o' })
    await store.accept({ instanceId: 'i-o', bindingId: 'b' }, () => ({
      answer: undefined,
      change: { bindings: [bindingRow('i-o', 'b', { phase: 'ready' })] },
    }))
    assert.equal(await isAllowed(store, 'retry', operation), false)
    await store.accept({ instanceId: 'i-o', bindingId: 'b' }, () => ({
      answer: undefined,
      change: { bindings: [bindingRow('i-o', 'b', { phase: 'failed' })] },
    }))
    assert.equal(await isAllowed(store, 'retry', operation), true)
    await store.accept({ instanceId: 'i-o' }, () => ({
      answer: undefined,
      change: { operations: [operationRow('active', 'i-o', { action: 'update' })] },
    }))
    assert.equal(await isAllowed(store, 'retry', operation), false)
  }),
]
