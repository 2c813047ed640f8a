import type { Survey } from '../../store.ts'
import { assert } from './assert.ts'
import { bind, claimOne, finish, leaseOf, present, provision, standing } from './rows.ts'
import { storeCase } from './subject.ts'

/** In one order, whatever the store's. */
function sorted<Row extends object>(rows: readonly Row[]): Row[] {
  const nameOf = (row: Row) => JSON.stringify(Object.entries(row).sort())
  return rows.map(present).sort((one, other) => (nameOf(one) < nameOf(other) ? -1 : 1))
}

function plain({ active, ended, instances, bindings, now }: Survey) {
  return {
    active: sorted(active),
    ended: sorted(ended),
    instances: sorted(instances),
    bindings: sorted(bindings),
    now,
  }
}

export const surveyCases = [
  storeCase('survey: of an empty ledger it is empty', async ({ store, clock }) => {
    const nothing = { active: [], ended: [], instances: [], bindings: [], now: clock.now() }
    assert.deepEqual(plain(await store.survey(0)), nothing)
  }),

  storeCase('survey: counts what is active, due, late and has ended', async ({ store, clock }) => {
    const now = clock.now()
    const late = { notBefore: now - 50, acceptedAt: now - 60, deadlineAt: now }
    await provision(store, 'i', late)
    await provision(store, 'j', { notBefore: now - 20, acceptedAt: now - 70 })
    await provision(store, 'k', { notBefore: now + 99_000, acceptedAt: now - 10, hold: { since: now - 5, by: 'Ünï' } })
    await provision(store, 'ended', { notBefore: now - 99 })
    await finish(store, leaseOf(await claimOne(store)))
    await standing(store, 's', { serviceId: 'ünï service', planId: 'p' })
    await standing(store, 't', { serviceId: 'ünï service', planId: 'p' })
    await standing(store, 'broken', { usable: false, phase: 'failed' })
    await standing(store, 'gone', { phase: 'deleted', deletedAt: now })
    await bind(store, 's', 'b', { notBefore: now + 5_000, acceptedAt: now })
    const of = { serviceId: 'service', planId: 'plan', usable: true, instances: 1 }
    assert.deepEqual(plain(await store.survey(now)), {
      active: sorted([
        {
          action: 'provision',
          state: 'queued',
          operations: 3,
          held: 1,
          acceptedSince: now - 70,
          dueSince: now - 50,
          pastDeadline: 1,
        },
        { action: 'bind', state: 'queued', operations: 1, held: 0, acceptedSince: now, pastDeadline: 0 },
      ]),
      ended: [{ action: 'provision', state: 'succeeded', operations: 1 }],
      instances: sorted([
        { serviceId: 'service', planId: 'plan', phase: 'creating', usable: true, instances: 3 },
        { serviceId: 'service', planId: 'plan', phase: 'ready', usable: true, instances: 1 },
        { serviceId: 'ünï service', planId: 'p', phase: 'ready', usable: true, instances: 2 },
        { ...of, phase: 'failed', usable: false },
      ]),
      bindings: [{ serviceId: 'service', phase: 'creating', bindings: 1 }],
      now,
    })
    await clock.advance(1)
    assert.deepEqual((await store.survey(now + 1)).ended, [])
  }),

  storeCase('survey: what is running is due when its lease is over', async ({ store, clock }) => {
    await provision(store, 'i', { acceptedAt: clock.now() })
    const accepted = clock.now()
    const { operation } = await claimOne(store)
    const begun = { held: 0, acceptedSince: accepted, begunSince: accepted, pastDeadline: 0 }
    const running = { action: 'provision', state: 'running', operations: 1, ...begun }
    assert.deepEqual(sorted((await store.survey(0)).active), sorted([running]))
    const leaseUntil = operation.leaseUntil ?? 0
    await clock.advance(leaseUntil - clock.now())
    assert.deepEqual(sorted((await store.survey(0)).active), sorted([{ ...running, dueSince: leaseUntil }]))
  }),

  storeCase('survey: what is parked has begun, and what has a lease is not held', async ({ store, clock }) => {
    const since = clock.now()
    await provision(store, 'i', { acceptedAt: since, hold: { since } })
    const lease = leaseOf(await claimOne(store))
    const begun = { action: 'provision', operations: 1, acceptedSince: since, begunSince: since, pastDeadline: 0 }
    assert.deepEqual(sorted((await store.survey(0)).active), sorted([{ ...begun, state: 'running', held: 0 }]))
    await store.park(lease, { until: clock.now() + 9_000 })
    assert.deepEqual(sorted((await store.survey(0)).active), sorted([{ ...begun, state: 'queued', held: 1 }]))
  }),
]
