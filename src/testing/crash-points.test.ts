import { describe, expect, it } from 'vitest'
import { createMemoryStore } from '../store/memory/index.ts'
import { type CrashPoint, createCrashableStore, createCrashPoints } from './crash-points.ts'
import { claimOne, provision } from './store-contract/rows.ts'
import { createVirtualClock } from './virtual-clock.ts'

const pending = Symbol('pending')
const nowOrNever = <T>(promise: Promise<T>) =>
  Promise.race([promise, new Promise<typeof pending>(resolve => setImmediate(() => resolve(pending)))])

describe('crash points', () => {
  it('stand before and after every call to the ledger, and around calls of the test', async () => {
    const points: CrashPoint[] = []
    const { wrap, around, passed } = createCrashPoints(point => points.push(point))
    const store = wrap(createMemoryStore({ clock: createVirtualClock() }))
    await provision(store, 'i')
    await around('backend', () => store.instance('i'))
    expect(points.map(({ number, when, call }) => `${number} ${when} ${call}`)).toEqual([
      '1 before accept',
      '2 after accept',
      '3 before backend',
      '4 before instance',
      '5 after instance',
      '6 after backend',
    ])
    expect(passed()).toBe(6)
  })

  it('stand around every method of the ledger', async () => {
    const calls = new Set<string>()
    const ledger = createMemoryStore({ clock: createVirtualClock() })
    const store = createCrashPoints(({ call }) => calls.add(call)).wrap(ledger)
    const own = new Set(['name', 'onWakeUp', 'close', 'known', 'moving', 'sealing', 'chain'])
    const methods = Object.keys(ledger).filter(name => !own.has(name))
    // To move a ledger, to seal it again and to link its history are no part of running it: they have tests of their own.
    const apart = new Set(['known', 'moving', 'sealing', 'chain'])
    expect(Object.keys(store).sort()).toEqual(
      Object.keys(ledger)
        .filter(name => !apart.has(name))
        .sort(),
    )
    for (const name of methods) {
      const method = store[name as 'ping']
      // What it is called with does not matter: a call that throws passes its points, too.
      await method().catch(() => {})
    }
    expect([...calls].sort()).toEqual(methods.sort())
  })

  it('stand after a call that throws, too', async () => {
    const points: CrashPoint[] = []
    const { around } = createCrashPoints(point => points.push(point))
    const broken = around('backend', () => Promise.reject(new Error('no')))
    await expect(broken).rejects.toThrow('no')
    expect(points).toHaveLength(2)
  })

  it.each([
    ['before', 1, undefined],
    ['after', 2, 'i'],
  ] as const)('a crash %s a call: its effect is that, and its caller never hears', async (_, point, effect) => {
    const ledger = createMemoryStore({ clock: createVirtualClock() })
    const process = createCrashableStore(ledger)
    process.crashAt(point)
    expect(await nowOrNever(provision(process.store, 'i'))).toBe(pending)
    await process.crashed
    expect((await ledger.instance('i'))?.id).toBe(effect)
  })

  it('a dead process reaches nothing and is told nothing', async () => {
    const ledger = createMemoryStore({ clock: createVirtualClock() })
    const process = createCrashableStore(ledger)
    const heard: string[] = []
    process.store.onWakeUp(({ type }) => heard.push(type))
    process.crash()
    expect(process.isCrashed()).toBe(true)
    expect(await nowOrNever(provision(process.store, 'i'))).toBe(pending)
    expect(await nowOrNever(process.store.close())).toBe(pending)
    await provision(ledger, 'other')
    expect((await claimOne(ledger)).operation.instanceId).toBe('other')
    expect(heard).toEqual([])
  })
})
