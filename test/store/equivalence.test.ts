import { rmSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { SharedWish } from '../../src/domain/shared-claim.ts'
import { createMemoryStore } from '../../src/store/memory/index.ts'
import { openWith } from '../../src/store/sqlite/open.ts'
import type { Lease, Store } from '../../src/store.ts'
import {
  bind,
  finish,
  operationRow,
  provision,
  stepRow,
  supersede,
  view,
} from '../../src/testing/store-contract/rows.ts'
import { createVirtualClock } from '../../src/testing/virtual-clock.ts'
import { describeDrivers, temporaryFolder } from './sqlite-drivers.ts'

const instanceIds = ['i', 'j', 'k']
const bindingIds = ['b', 'c']
const leaseMs = 1000

/** One call, made in the same way on both stores. Leases are named by their place in the list of all that were given. */
type Call =
  | { type: 'provision' | 'supersede' | 'update'; instanceId: string; delay: number }
  | { type: 'bind'; instanceId: string; bindingId: string }
  | { type: 'refuse' | 'observe'; instanceId: string }
  | { type: 'claim'; max: number }
  | { type: 'renew' | 'finish' | 'forget' | 'handBack'; lease: number }
  | { type: 'checkpoint'; lease: number; step?: string; done: boolean; state?: number }
  | { type: 'park'; lease: number; delay: number; step?: string }
  | { type: 'share'; lease: number; key: string; wish: SharedWish }

const instanceId = fc.constantFrom(...instanceIds)
const lease = fc.nat({ max: 8 })
const delay = fc.constantFrom(0, 1, 500, 2000)
const step = fc.constantFrom('one', 'two')
const call: fc.Arbitrary<Call> = fc.oneof(
  fc.record({ type: fc.constantFrom('provision', 'supersede', 'update'), instanceId, delay }),
  fc.record({ type: fc.constant('bind'), instanceId, bindingId: fc.constantFrom(...bindingIds) }),
  fc.record({ type: fc.constantFrom('refuse', 'observe'), instanceId }),
  fc.record({ type: fc.constant('claim'), max: fc.nat({ max: 3 }) }),
  fc.record({ type: fc.constant('claim'), max: fc.nat({ max: 3 }) }),
  fc.record({ type: fc.constantFrom('renew', 'finish', 'forget', 'handBack'), lease }),
  fc.record(
    { type: fc.constant('checkpoint'), lease, step, done: fc.boolean(), state: fc.nat() },
    { requiredKeys: ['type', 'lease', 'done'] },
  ),
  fc.record({ type: fc.constant('park'), lease, delay, step }, { requiredKeys: ['type', 'lease', 'delay'] }),
  fc.record({
    type: fc.constant('share'),
    lease,
    key: fc.constantFrom('x', 'y'),
    wish: fc.constantFrom('acquire', 'release', 'settle'),
  }),
) as fc.Arbitrary<Call>

/** Calls of one turn, then time that passes. */
const round = fc.record({
  calls: fc.array(call, { minLength: 1, maxLength: 4 }),
  pause: fc.constantFrom(0, 1, 400, 1000, 2500),
})

describeDrivers('sqlite does what memory does', driver => {
  it('on any sequence of calls, one after the other or at once', { timeout: 120_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(round, { maxLength: 25 }), async rounds => {
        const folder = temporaryFolder()
        const clock = createVirtualClock(1_000_000)
        const memory = createPlayer(createMemoryStore({ clock }), clock.now)
        const sqlite = createPlayer(openWith(driver, { file: join(folder, 'ledger.db'), clock }), clock.now)
        try {
          for (const { calls, pause } of rounds) {
            expect(await sqlite.play(calls)).toEqual(await memory.play(calls))
            await clock.advance(pause)
          }
          expect(await sqlite.everything()).toEqual(await memory.everything())
        } finally {
          await sqlite.close()
          rmSync(folder, { recursive: true })
        }
      }),
      { numRuns: 100 },
    )
  })
})

function createPlayer(store: Store, now: () => number) {
  const leases: Lease[] = []
  const operationIds = new Set<string>()
  const wakeUps: string[] = []
  let accepted = 0
  store.onWakeUp(wakeUp => wakeUps.push(JSON.stringify(wakeUp)))

  /** A fresh id for each accepted operation, the same on both stores since they are asked in the same order. */
  function newId(name: string): string {
    accepted += 1
    const id = `${name} ${accepted}`
    operationIds.add(id)
    return id
  }

  const held = (index: number): Lease => leases.at(-1 - index) ?? { operationId: 'none', fence: 1 }

  function perform(call: Call): Promise<unknown> {
    switch (call.type) {
      case 'provision':
        return provision(store, call.instanceId, { id: newId('provision'), notBefore: now() + call.delay })
      case 'update': {
        const operation = operationRow(newId('update'), call.instanceId, {
          action: 'update',
          notBefore: now() + call.delay,
        })
        return store.accept({ instanceId: call.instanceId }, snapshot => {
          if (snapshot.operation !== undefined) return { answer: snapshot }
          const event = { at: snapshot.now, type: 'accepted', instanceId: call.instanceId } as const
          return { answer: snapshot, change: { operations: [operation], history: [event] } }
        })
      }
      case 'supersede':
        return supersede(store, call.instanceId, newId('delete'))
      case 'bind':
        return bind(store, call.instanceId, call.bindingId, { id: newId('bind'), notBefore: now() })
      case 'refuse':
        return store.accept({ instanceId: call.instanceId }, () => {
          throw new Error('refused')
        })
      case 'observe':
        return store.accept({ instanceId: call.instanceId, bindingId: 'b', predecessorId: 'c' }, snapshot => ({
          answer: snapshot,
          ...(snapshot.instance && { change: { instance: { ...snapshot.instance, observeAt: snapshot.now } } }),
        }))
      case 'claim':
        return store.claim('w', call.max, leaseMs).then(result => {
          for (const { operation } of result.claims) leases.push({ operationId: operation.id, fence: operation.fence })
          return result
        })
      case 'renew':
        return store.renew([held(call.lease), held(call.lease + 1)], leaseMs)
      case 'finish':
        return finish(store, held(call.lease))
      case 'forget':
        return store.finish(held(call.lease), ({ finishing }) => ({ forget: [finishing.id] }))
      case 'handBack':
        return store.handBack(held(call.lease))
      case 'checkpoint':
        return store.checkpoint(held(call.lease), {
          ...(call.step && { step: stepRow(call.step, { state: call.done ? 'done' : 'failed', output: call.state }) }),
          ...(call.state !== undefined && { state: { value: call.state }, description: `${call.state}` }),
        })
      case 'park':
        return store.park(held(call.lease), {
          until: now() + call.delay,
          ...(call.step && { step: stepRow(call.step, { state: 'failed' }) }),
        })
      case 'share':
        return store.share(held(call.lease), call.key, call.wish)
    }
  }

  return {
    /** What each call came to; of an error only that it was one, since each store has its own words. */
    async play(calls: readonly Call[]): Promise<unknown[]> {
      const outcomes = await Promise.allSettled(calls.map(perform))
      return outcomes.map(outcome => (outcome.status === 'fulfilled' ? { value: outcome.value } : 'rejected'))
    },
    async everything(): Promise<unknown> {
      return {
        views: await Promise.all(instanceIds.map(id => view(store, id, ...operationIds))),
        observed: [...(await store.dueForObservation(10))].sort(),
        wakeUps,
      }
    },
    close: () => store.close(),
  }
}
