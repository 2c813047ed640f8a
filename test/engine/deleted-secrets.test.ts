import { describe, expect, it } from 'vitest'
import type { Service } from '../../src/index.ts'
import { adminOf } from '../verbs/admin.ts'
import { createWorld, ids, incomplete, minutes } from './world.ts'

const canaries = {
  rows: ['canary-parameter', 'canary-state', 'canary-binding-state', 'canary-credentials'],
  operations: ['canary-parameter', 'canary-step', 'canary-bind-step'],
}

/** An instance `i` with a binding `b`, and what the ledger shows of them. */
async function open(more: Partial<Service> = {}) {
  const world = createWorld({
    settings: { osb: { rememberDeleted: '30m' }, chores: { purgeAfter: '1h' } },
    service: {
      async provision(ctx) {
        await ctx.step('create', () => 'canary-step')
        return { state: { root: 'canary-state' } }
      },
      async bind(ctx) {
        await ctx.step('grant', () => 'canary-bind-step')
        return { credentials: { password: 'canary-credentials' }, state: { user: 'canary-binding-state' } }
      },
      async update(ctx) {
        await ctx.step('change', () => 'canary-step')
        return {}
      },
      async unbind(ctx) {
        await ctx.step('revoke', () => 'canary-bind-step')
      },
      async deprovision(ctx) {
        await ctx.step('delete', () => 'canary-step')
      },
      ...more,
    },
  })
  const { ledger, clock } = world
  const broker = await world.boot()
  const parameters = { password: 'canary-parameter' }
  const { body } = await broker.client.provision('i', { ...ids, parameters }, incomplete)
  const operations = [body.operation ?? '']
  await clock.advance(minutes(1))
  operations.push(await broker.bind('i', 'b'))
  await clock.advance(minutes(1))
  return {
    ...world,
    ...broker,
    operations,
    rows: async () => JSON.stringify([await ledger.instance('i'), await ledger.binding('i', 'b')]),
    async kept(ofThese: readonly string[] = operations) {
      const all = ofThese.map(async id => [(await ledger.operation(id))?.input, await ledger.steps(id)])
      return JSON.stringify(await Promise.all(all))
    },
  }
}

describe('what was deleted', () => {
  it('holds no secret any more, nor do its operations', async () => {
    const { operations, rows, kept, ledger, clock, ...broker } = await open()
    operations.push(await broker.update('i', { password: 'canary-parameter' }))
    await clock.advance(minutes(1))
    for (const canary of canaries.rows) expect(await rows()).toContain(canary)
    for (const canary of canaries.operations) expect(await kept()).toContain(canary)
    const [provision = ''] = operations

    const unbind = await broker.unbind('i', 'b')
    operations.push(unbind)
    await clock.advance(minutes(1))
    expect(await kept()).not.toContain('canary-bind-step')
    expect(await kept([provision])).toContain('canary-step')

    const deprovision = await broker.deprovision('i')
    operations.push(deprovision)
    await clock.advance(minutes(1))
    expect(await rows()).not.toContain('canary')
    expect(await kept()).not.toContain('canary')
    expect(await broker.poll('i', deprovision)).toEqual({ state: 'succeeded' })
    expect(await broker.pollBinding('i', 'b', unbind)).toEqual({ state: 'succeeded' })
    const left = await ledger.operation(provision)
    expect([left?.state, left?.input, left?.requestHash]).toEqual(['succeeded', {}, undefined])
    expect(await ledger.steps(provision)).toMatchObject([{ name: 'create', state: 'done', attempts: 1 }])
    expect((await ledger.history('i')).map(({ type }) => type)).toHaveLength(2 * operations.length)

    await clock.advance(minutes(180))
    expect(await rows()).toBe('[null,null]')
    for (const operation of operations)
      expect([await ledger.operation(operation), await ledger.steps(operation)]).toEqual([undefined, []])
    // The history stays, and has none either.
    expect(await ledger.history('i')).toHaveLength(2 * operations.length)
    expect(JSON.stringify(await ledger.history('i'))).not.toContain('canary')
  })

  it('keeps what its sweep needs, and that goes when the sweep has ended', async () => {
    let calls = 0
    const seen: unknown[] = []
    const { operations, rows, kept, watch, ledger, clock, ...broker } = await open({
      async deprovision(ctx) {
        await ctx.step('delete', () => {
          calls += 1
          if (calls === 1) throw new Error('no answer')
          return 'canary-step'
        })
        seen.push(ctx.state)
      },
    })
    await broker.unbind('i', 'b')
    await clock.advance(minutes(1))
    const deprovision = await broker.deprovision('i')
    while ((await broker.poll('i', deprovision)).state === 'in progress') await clock.advance(1000)
    const [sweep] = watch.active()
    expect(sweep?.action).toBe('sweep')
    expect(await kept([...operations, deprovision])).not.toContain('canary')
    expect(await rows()).toContain('canary-state')

    while (watch.active().length > 0) await clock.advance(1000)
    expect(seen).toEqual([{ root: 'canary-state' }, { root: 'canary-state' }])
    expect(await rows()).not.toContain('canary')
    expect((await ledger.steps(sweep?.id ?? '')).map(({ name }) => name)).toEqual(['delete'])
    expect(await kept([...operations, deprovision, sweep?.id ?? ''])).not.toContain('canary')
  })

  it('holds none where an operator has abandoned it, with its bindings and whatever ran', async () => {
    const hung = new Promise<never>(() => {})
    const { operations, rows, kept, clock, ...broker } = await open({
      async update(ctx) {
        await ctx.step('begin', () => 'canary-step')
        await ctx.step('change', () => hung)
        return {}
      },
    })
    const update = await broker.update('i', { password: 'canary-parameter' })
    operations.push(update)
    await clock.advance(1000)
    for (const canary of ['canary-parameter', 'canary-step']) expect(await kept([update])).toContain(canary)
    expect(await kept()).toContain('canary-bind-step')
    const answer = await adminOf(broker).abandonInstance('i', { reason: 'its backend is gone', bindings: true })
    expect(answer.status).toBe(200)
    expect(await kept()).not.toContain('canary')
    expect(await rows()).not.toContain('canary')
  })
})
