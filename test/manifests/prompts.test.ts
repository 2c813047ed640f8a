import { describe, expect, it } from 'vitest'
import type { Gates } from '../../src/broker/gates/gates.ts'
import { createObserveSoon } from '../../src/broker/registries/observe-soon.ts'
import { syncOnChange } from '../../src/broker/registries/sync-on-change.ts'
import { decideObserveSoon } from '../../src/domain/decide-observe.ts'
import type { Instance } from '../../src/domain/instance.ts'
import type { Operation } from '../../src/domain/operation.ts'
import type { Registry } from '../../src/registry.ts'
import type { ReadSettings } from '../../src/settings/settings.ts'
import { createMemoryStore } from '../../src/store/memory/index.ts'
import { claimOne, leaseOf, operationRow, provision } from '../../src/testing/store-contract/rows.ts'
import { createVirtualClock } from '../../src/testing/virtual-clock.ts'

describe('a registry that says that its list has changed', () => {
  it('is asked once for many changes, and again where a sync was running already', async () => {
    const clock = createVirtualClock()
    const stop = new AbortController()
    let change = () => {}
    const registry: Registry = {
      ...{ name: 'apps', type: 'kubernetes', list: async () => ({ kind: 'failed' as const, problem: '' }) },
      watch: (onChange, signal) =>
        new Promise(resolve => {
          change = onChange
          signal.addEventListener('abort', () => resolve())
        }),
    }
    const answers: (number | undefined)[] = [1, undefined, 2]
    const runs: string[] = []
    const run = async (name: string) => {
      runs.push(name)
      return answers.shift()
    }
    const syncing = syncOnChange([registry], { run }, { clock, stopping: stop.signal })
    await clock.advance(60_000)
    expect(runs).toEqual([])
    change()
    change()
    await clock.advance(10_000)
    expect(runs).toEqual(['sync'])
    change()
    await clock.advance(2_000)
    expect(runs).toHaveLength(2)
    await clock.advance(10_000)
    expect(runs).toHaveLength(3)
    await clock.advance(60_000)
    expect(runs).toHaveLength(3)
    stop.abort()
    await clock.advance(10_000)
    await syncing
  })
})

describe('what instances share', () => {
  it('is looked at by one of those who claim it, where others are busy', async () => {
    const clock = createVirtualClock()
    const store = createMemoryStore({ clock })
    for (const id of ['busy', 'free', 'other']) {
      await provision(store, id)
      const lease = leaseOf(await claimOne(store))
      await store.share(lease, 'key', 'acquire')
      await store.share(lease, 'key', 'settle')
      await store.finish(lease, ({ instance, finishing }) => ({
        instance: instance && { ...instance, phase: 'ready', observeAt: clock.now() + 60_000 },
        deleteOperations: [finishing.id],
      }))
    }
    await store.accept({ instanceId: 'busy' }, () => ({
      answer: 0,
      change: { operations: [operationRow('update', 'busy', { action: 'update' })] },
    }))
    const runs: string[] = []
    const observeSoon = createObserveSoon(
      { store, observer: {}, offerPlace: () => undefined, gates: {} as Gates, settings: {} as ReadSettings },
      { run: async name => runs.push(name) },
    )
    await observeSoon({ claim: 'key' })
    await observeSoon({ claim: 'key' })
    expect(await store.dueForObservation(5)).toEqual(['free'])
    expect(runs).toEqual(['observe'])
    await observeSoon({ claim: 'nobody' })
    await observeSoon({ instanceId: 'other' })
    expect(await store.dueForObservation(5)).toEqual(['free', 'other'])
  })
})

describe('an instance that is worth a look', () => {
  const counts = { liveBindings: 0, busyBindings: 0, sweptBindings: 0 }
  const instance = { id: 'i', observeAt: 900 } as Instance

  it('is due now, once', () => {
    const { answer, change } = decideObserveSoon({ ...counts, now: 100, instance })
    expect(answer).toBe('due')
    expect(change?.instance).toMatchObject({ observeAt: 100 })
    expect(decideObserveSoon({ ...counts, now: 900, instance })).toEqual({ answer: 'coming' })
  })

  it('is left alone while something is at work on it, and where nobody observes it', () => {
    const during = (action: Operation['action']) =>
      decideObserveSoon({ ...counts, now: 100, instance, operation: { action } as Operation })
    expect(during('update')).toEqual({ answer: 'not' })
    expect(during('observe')).toEqual({ answer: 'coming' })
    const unobserved = { ...instance, observeAt: undefined }
    expect(decideObserveSoon({ ...counts, now: 100, instance: unobserved })).toEqual({ answer: 'not' })
    expect(decideObserveSoon({ ...counts, now: 100 })).toEqual({ answer: 'not' })
  })
})
