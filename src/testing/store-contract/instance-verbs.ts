/** What operators do to an instance: the table, and what a sweep by hand writes. */

import { decideAbandon } from '../../domain/decide-abandon.ts'
import { decideAdopt } from '../../domain/decide-adopt.ts'
import { decideDeprovision } from '../../domain/decide-deprovision.ts'
import { decideMove } from '../../domain/decide-move.ts'
import { decideObserveNow } from '../../domain/decide-observe.ts'
import { decideProvision } from '../../domain/decide-provision.ts'
import { decideSweep } from '../../domain/decide-sweep.ts'
import type { Intent } from '../../domain/intent.ts'
import type { InstanceVerb } from '../../domain/operator.ts'
import { type Action, actions } from '../../protocol/actions.ts'
import { BrokerError } from '../../protocol/errors.ts'
import type { Instance, Operation, Snapshot, Store } from '../../store.ts'
import { assert } from './assert.ts'
import { change, revisionRow } from './catalog-rows.ts'
import { bindingRow, claimOne, instanceRow, leaseOf, leaseTime, operationRow, standing } from './rows.ts'
import { storeCase } from './subject.ts'

type Verb = InstanceVerb | 'adopt'

const acting = { by: 'ops', reason: 'something is left of it' }

function begin(operationId: string, instanceId: string): Intent {
  const base = { operationId, instanceId, serviceId: 'service', requestHash: 'hash', timeout: 60_000 }
  return { ...base, platform: 'cf', acceptsIncomplete: true, mode: 'auto', sweepDelay: 1_000, landsWithin: 1_000 }
}

function sweeping(instanceId: string, operationId = `${instanceId}:sweep`, bindingId?: string) {
  return { ...acting, intent: begin(operationId, instanceId), bindingId, unbind: [], possible: true }
}

/** What each verb is decided by, as if somebody here could do it. */
const decisions: Readonly<Record<Verb, (snapshot: Snapshot, instanceId: string) => unknown>> = {
  move: snapshot => decideMove(snapshot, { ...acting, to: revisionRow('s') }),
  abandon: (snapshot, instanceId) =>
    decideAbandon(snapshot, { ...acting, instanceId, operationId: 'abandon', bindings: false, sweepDelay: 1_000 }),
  observe: (snapshot, instanceId) =>
    decideObserveNow(snapshot, { ...acting, intent: begin('observe', instanceId), possible: true }),
  sweep: (snapshot, instanceId) => decideSweep(snapshot, sweeping(instanceId)),
  adopt: (snapshot, instanceId) => {
    const instance = { ...instanceRow(instanceId), observed: false }
    return decideAdopt(snapshot, { ...acting, newId: () => 'adopt', dryRun: false, instance, bindings: [] })
  },
}

/** By what is active, or by the phase where nothing is: what each verb is refused with, in the order of `verbs`. */
const verbs = ['move', 'abandon', 'observe', 'sweep', 'adopt'] as const
const busy = 'ConcurrencyError'
const no = 'VerbRefused'
const gone = 'InstanceGone'
const other = 'InstanceConflict'
const table: Readonly<Record<Action | 'ready' | 'failed' | 'deleted', readonly (string | undefined)[]>> = {
  ready: [undefined, undefined, undefined, no, undefined],
  failed: [undefined, undefined, undefined, no, undefined],
  deleted: [gone, undefined, gone, undefined, undefined],
  provision: [busy, undefined, no, no, other],
  update: [busy, undefined, busy, no, undefined],
  deprovision: [busy, undefined, busy, no, undefined],
  bind: [busy, 'BindingsExist', undefined, no, undefined],
  unbind: [busy, 'BindingsExist', undefined, no, undefined],
  observe: [busy, undefined, busy, no, undefined],
  sweep: [gone, undefined, gone, no, busy],
}

const phases = {
  provision: 'creating',
  update: 'updating',
  deprovision: 'deleting',
  bind: 'ready',
  unbind: 'ready',
  observe: 'ready',
  sweep: 'deleted',
} as const satisfies Readonly<Record<Action, Instance['phase']>>

/** An instance with an active operation of the action, as it stands while that is queued, held or running. */
async function withActive(store: Store, id: string, action: Action, state: Partial<Operation>): Promise<void> {
  const phase = phases[action]
  await standing(store, id, { phase, created: action !== 'provision', revisionId: 'r', requestHash: 'hash' })
  const bindingId = action === 'bind' || action === 'unbind' ? 'b' : undefined
  const operation = operationRow(`${id}:${action}`, id, { action, bindingId, attempt: 1, ...state })
  const bindings = bindingId === undefined ? [] : [bindingRow(id, bindingId, { lastOperationId: operation.id })]
  await store.accept({ instanceId: id, bindingId }, () => ({
    answer: undefined,
    change: { bindings, operations: [operation] },
  }))
}

async function refusalOf(store: Store, verb: Verb, instanceId: string): Promise<string | undefined> {
  try {
    await store.accept({ instanceId }, snapshot => {
      decisions[verb](snapshot, instanceId)
      return { answer: undefined }
    })
    return undefined
  } catch (error) {
    assert.ok(error instanceof BrokerError && /\S\.$/.test(error.message), String(error))
    return error.code
  }
}

async function judged(store: Store, instanceId: string): Promise<readonly (string | undefined)[]> {
  const found: (string | undefined)[] = []
  for (const verb of verbs) found.push(await refusalOf(store, verb, instanceId))
  return found
}

function sweep(store: Store, instanceId: string, operationId?: string) {
  return store.accept({ instanceId }, snapshot => decideSweep(snapshot, sweeping(instanceId, operationId)))
}

function deleted(store: Store, id: string, overrides: Partial<Instance> = {}): Promise<void> {
  return standing(store, id, { phase: 'deleted', usable: false, deletedAt: 1, state: { bucket: 'b1' }, ...overrides })
}

export const instanceVerbCases = [
  storeCase('verbs: what operators may do to an instance is as the table says', async ({ store, clock }) => {
    await change(store, { insertRevisions: [revisionRow('r'), revisionRow('s')] })
    for (const phase of ['ready', 'failed', 'deleted'] as const) {
      await standing(store, phase, { phase, revisionId: 'r', requestHash: 'hash' })
      assert.deepEqual(await judged(store, phase), table[phase], `nothing is active, and it is ${phase}`)
    }
    const later = clock.now() + 60_000
    const states = {
      queued: { state: 'queued', notBefore: later },
      held: { state: 'queued', notBefore: later, hold: { since: 0 } },
      running: { state: 'running', leaseUntil: later },
    } as const
    for (const action of actions)
      for (const [name, state] of Object.entries(states)) {
        const id = `${action}-${name}`
        await withActive(store, id, action, state)
        assert.deepEqual(await judged(store, id), table[action], `its ${action} is ${name}`)
      }
  }),

  storeCase('verbs: a sweep by hand is an operation, with who asked for it and why', async ({ store, clock }) => {
    await deleted(store, 'i', { uncleanUntil: clock.now() + 5_000, lastOperationId: 'deletion' })
    const begun = await sweep(store, 'i')
    assert.deepEqual([begun.action, begun.state], ['sweep', 'queued'])
    const [event] = await store.history('i')
    assert.deepEqual([event?.type, event?.verb, event?.by, event?.reason], ['acted', 'sweep', 'ops', acting.reason])
    assert.equal(event?.operationId, begun.id)
    await assert.rejects(sweep(store, 'i', 'again'), {
      code: no,
      message: `It is being swept: see the operation ${begun.id}.`,
    })
    // A call of before may still land.
    assert.deepEqual((await store.claim('worker', 10, leaseTime)).claims, [])
    await clock.advance(5_000)
    const claim = await claimOne(store)
    assert.deepEqual([claim.operation.id, claim.instance.state], [begun.id, { bucket: 'b1' }])
    assert.equal((await store.instance('i'))?.lastOperationId, 'deletion')
  }),

  storeCase('verbs: of twenty that sweep one instance one does', async ({ store }) => {
    await deleted(store, 'i')
    const ended = await Promise.allSettled(
      Array.from({ length: 20 }, (_, index) => sweep(store, 'i', `sweep ${index}`)),
    )
    assert.equal(ended.filter(({ status }) => status === 'fulfilled').length, 1)
    assert.equal((await store.history('i')).length, 1)
  }),

  storeCase('verbs: of a sweep and a PUT under the same id, both are right', async ({ store }) => {
    for (let round = 0; round < 8; round += 1) {
      const id = `i${round}`
      await deleted(store, id)
      const wanted = {
        ...begin(`${id}:provision`, id),
        planId: 'plan',
        requestHash: 'other',
        parameters: () => ({}),
        context: {},
        dashboardToken: 'token',
      }
      const [swept] = await Promise.allSettled([
        sweep(store, id),
        store.accept({ instanceId: id }, snapshot => decideProvision(snapshot, wanted)),
      ])
      const row = await store.operation(`${id}:provision`)
      assert.equal(row?.state, 'queued')
      // Either it takes the sweep along and does it first, or it was first and the sweep is refused.
      assert.equal(row?.input.sweepFirst !== undefined, swept.status === 'fulfilled')
    }
  }),

  storeCase('verbs: a binding is swept alone, and a deprovision waits for it', async ({ store }) => {
    await standing(store, 'i')
    await store.accept({ instanceId: 'i', bindingId: 'b' }, () => ({
      answer: undefined,
      change: { bindings: [bindingRow('i', 'b', { phase: 'deleted', deletedAt: 1 })] },
    }))
    const sweepBinding = (operationId: string) =>
      store.accept({ instanceId: 'i', bindingId: 'b' }, snapshot =>
        decideSweep(snapshot, sweeping('i', operationId, 'b')),
      )
    await sweepBinding('first')
    await assert.rejects(sweepBinding('second'), { code: no })
    const deletion = { ...begin('d', 'i'), cascade: false, forceUnknown: false }
    await store.accept({ instanceId: 'i' }, snapshot => decideDeprovision(snapshot, deletion))
    assert.equal((await store.operation('d'))?.input.afterSweeps, true)
    const lease = leaseOf(
      (await store.claim('worker', 10, leaseTime)).claims.find(({ operation }) => operation.id === 'first') ??
        assert.fail(),
    )
    await store.finish(lease, ({ finishing, now }) => ({
      operations: [{ ...finishing, state: 'succeeded', finishedAt: now }],
    }))
    // The deprovision knows of no sweep that comes after it.
    await assert.rejects(sweepBinding('third'), { code: busy })
  }),
]
