import { describe, expect, it } from 'vitest'
import { syncOnChange } from '../../src/broker/registries/sync-on-change.ts'
import { decideObserveSoon } from '../../src/domain/decide-observe.ts'
import type { Instance } from '../../src/domain/instance.ts'
import type { Operation } from '../../src/domain/operation.ts'
import type { Registry } from '../../src/registry.ts'
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

describe('an instance that is worth a look', () => {
  const counts = { liveBindings: 0, busyBindings: 0, sweptBindings: 0 }
  const instance = { id: 'i', observeAt: 900 } as Instance

  it('is due now, once', () => {
    const { answer, change } = decideObserveSoon({ ...counts, now: 100, instance })
    expect(answer).toBe(true)
    expect(change?.instance).toMatchObject({ observeAt: 100 })
    expect(decideObserveSoon({ ...counts, now: 900, instance })).toEqual({ answer: false })
  })

  it('is left alone while something is at work on it, and where nobody observes it', () => {
    expect(decideObserveSoon({ ...counts, now: 100, instance, operation: {} as Operation })).toEqual({ answer: false })
    const unobserved = { ...instance, observeAt: undefined }
    expect(decideObserveSoon({ ...counts, now: 100, instance: unobserved })).toEqual({ answer: false })
    expect(decideObserveSoon({ ...counts, now: 100 })).toEqual({ answer: false })
  })
})
