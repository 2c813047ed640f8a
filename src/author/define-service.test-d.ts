import { expectTypeOf, test } from 'vitest'
import { z } from 'zod'
import type { JsonObject } from '../protocol/json.ts'
import type { Plan } from '../protocol/offering.ts'
import { defineService } from './define-service.ts'

const base = { id: 'x', name: 'x', description: 'x', plans: [{ id: 'p', name: 'p', description: 'p' }] }

test('a Standard Schema gives the parameters, provision gives the state, bind gives the binding state', () => {
  defineService({
    ...base,
    bindable: true,
    parameters: z.object({ size: z.number(), extensions: z.array(z.string()).default([]) }),
    bindParameters: z.object({ readonly: z.boolean() }),
    async provision(ctx) {
      expectTypeOf(ctx.parameters).toEqualTypeOf<{ size: number; extensions: string[] }>()
      const db = await ctx.step('create', call => ({ name: call.key, url: 'https://x' }))
      expectTypeOf(db).toEqualTypeOf<{ name: string; url: string }>()
      if (ctx.parameters.size > 3) return ctx.wait('10s', 'starting')
      return { dashboardUrl: db.url, state: { name: db.name } }
    },
    async bind(ctx) {
      expectTypeOf(ctx.state).toEqualTypeOf<{ name: string }>()
      expectTypeOf(ctx.parameters).toEqualTypeOf<{ readonly: boolean }>()
      return { credentials: { user: ctx.state.name }, state: { role: 7 } }
    },
    async unbind(ctx) {
      expectTypeOf(ctx.bindingState).toEqualTypeOf<Partial<{ role: number }>>()
    },
    update: async ctx => ({ state: ctx.state }),
    async deprovision(ctx) {
      expectTypeOf(ctx.state).toEqualTypeOf<Partial<{ name: string }>>()
    },
    observe: async ctx => ({ ready: ctx.state.name !== undefined }),
  })
})

test('a JSON Schema gives the parameters', () => {
  defineService({
    ...base,
    bindable: false,
    parameters: {
      type: 'object',
      properties: { size: { type: 'integer' }, kind: { enum: ['a', 'b'] } },
      required: ['size'],
    },
    provision(ctx) {
      expectTypeOf(ctx.parameters.size).toEqualTypeOf<number>()
      expectTypeOf(ctx.parameters.kind).toEqualTypeOf<'a' | 'b' | undefined>()
    },
    deprovision() {},
  })
})

test('without a schema the parameters are JSON; what is not there cannot be used', () => {
  defineService({
    ...base,
    bindable: true,
    provision(ctx) {
      expectTypeOf(ctx.parameters).toEqualTypeOf<JsonObject>()
      return { state: { name: 'x' } }
    },
    // @ts-expect-error the state has no such key
    bind: ctx => ({ credentials: { x: ctx.state.other } }),
    unbind() {},
    // @ts-expect-error an update must keep the shape of the state
    update: () => ({ state: { name: 7 } }),
    deprovision() {},
  })
})

test('an action returns what its kind returns', () => {
  // @ts-expect-error a provision returns no credentials
  defineService({ ...base, bindable: false, provision: () => ({ credentials: {} }), deprovision() {} })
  // @ts-expect-error a service needs a deprovision
  defineService({ ...base, bindable: false, provision() {} })
})

test('a step and the state have the type of their JSON', () => {
  defineService({
    ...base,
    bindable: true,
    async provision(ctx) {
      const made = await ctx.step('make', async () => ({ at: new Date(), note: undefined as string | undefined }))
      expectTypeOf(made).toEqualTypeOf<{ at: string; note?: string }>()
      const nothing = await ctx.step('nothing', () => {})
      expectTypeOf(nothing).toEqualTypeOf<void>()
      const list = await ctx.step('list', () => [new URL('https://x')])
      expectTypeOf(list).toEqualTypeOf<string[]>()
      const row = await ctx.step('row', () => JSON.parse('{}'), { timeout: '1s' })
      expectTypeOf(row).toBeAny()
      return { state: { at: new Date(), made } }
    },
    async update(ctx) {
      expectTypeOf(ctx.state).toEqualTypeOf<{ at: string; made: { at: string; note?: string } }>()
      if (ctx.state.made.note === undefined) return { state: ctx.state }
      return { state: { ...ctx.state, at: new Date() } }
    },
    bind: async () => ({ credentials: { since: new Date() }, state: { at: new Date() } }),
    async unbind(ctx) {
      expectTypeOf(ctx.bindingState).toEqualTypeOf<Partial<{ at: string }>>()
    },
    deprovision(ctx) {
      expectTypeOf(ctx.state.at).toEqualTypeOf<string | undefined>()
    },
  })
})

test('what JSON cannot hold does not compile', () => {
  defineService({
    ...base,
    bindable: true,
    async provision(ctx) {
      // @ts-expect-error a Map
      await ctx.step('map', () => new Map([['a', 1]]))
      // @ts-expect-error a promise of a Set, deep inside
      await ctx.step('set', async () => ({ a: [{ b: new Set<string>() }] }))
      // @ts-expect-error a function
      await ctx.step('function', call => ({ key: call.key, run: () => 1 }))
      // @ts-expect-error a bigint
      await ctx.step('bigint', () => 1n)
      // @ts-expect-error a promise that is not awaited
      await ctx.step('promise', () => ({ later: Promise.resolve(1) }))
      // @ts-expect-error a wait belongs to the action, not to a step
      await ctx.step('wait', () => ctx.wait('1s', 'later'))
    },
    deprovision() {},
  })
  // @ts-expect-error a Map in the state
  defineService({ ...base, bindable: false, provision: () => ({ state: { a: new Map() } }), deprovision() {} })
  // @ts-expect-error a wait in the state
  defineService({ ...base, bindable: false, provision: c => ({ state: { a: c.wait('1s', '') } }), deprovision() {} })
  // @ts-expect-error something that only looks like a wait
  defineService({ ...base, bindable: false, provision: () => ({ waitFor: 1, description: '' }), deprovision() {} })
})

test('a schema of the state gives its type, wherever the actions stand', () => {
  defineService({
    ...base,
    bindable: true,
    state: z.object({ name: z.string(), size: z.number().default(1) }),
    bindingState: { type: 'object', properties: { role: { type: 'string' } }, required: ['role'] },
    upgradeState(old) {
      expectTypeOf(old).toEqualTypeOf<JsonObject>()
      return { name: String(old.title) }
    },
    upgradeBindingState: old => ({ role: String(old.user) }),
    deprovision(ctx) {
      expectTypeOf(ctx.state).toEqualTypeOf<Partial<{ name: string; size: number }>>()
    },
    async bind(ctx) {
      expectTypeOf(ctx.state).toEqualTypeOf<{ name: string; size: number }>()
      return { credentials: { a: 1 }, state: { role: 'x' } }
    },
    unbind(ctx) {
      expectTypeOf(ctx.bindingState).toEqualTypeOf<Partial<{ role: string }>>()
    },
    update: async ctx => ({ state: { name: ctx.state.name } }),
    async provision(ctx) {
      expectTypeOf(ctx.state).toEqualTypeOf<JsonObject>()
      return { state: { name: 'x' } }
    },
  })
  const state = z.object({ name: z.string() })
  // @ts-expect-error the provision returns another state
  defineService({ ...base, bindable: false, state, provision: () => ({ state: { name: 7 } }), deprovision() {} })
  defineService({
    ...base,
    bindable: false,
    state,
    // @ts-expect-error the upgrade gives another state
    upgradeState: () => ({ name: 7 }),
    provision() {},
    deprovision() {},
  })
})

test('plans are literals where they stand in the code', () => {
  defineService({
    id: 'x',
    name: 'x',
    description: 'x',
    bindable: true,
    plans: [
      { id: 'p1', name: 'small', description: 'p', metadata: { bullets: ['a'] } },
      { id: 'p2', name: 'large', description: 'p' },
    ],
    provision(ctx) {
      expectTypeOf(ctx.plan.name).toEqualTypeOf<'small' | 'large'>()
      expectTypeOf(ctx.plan.id).toEqualTypeOf<'p1' | 'p2'>()
      // @ts-expect-error there is no such plan
      if (ctx.plan.name === 'smal') return
      if (ctx.plan.name === 'small') expectTypeOf(ctx.plan.id).toEqualTypeOf<'p1'>()
    },
    update(ctx) {
      expectTypeOf(ctx.plan.name).toEqualTypeOf<'small' | 'large'>()
    },
    bind(ctx) {
      expectTypeOf(ctx.plan.name).toEqualTypeOf<'small' | 'large'>()
      return { credentials: {} }
    },
    unbind() {},
    deprovision(ctx) {
      expectTypeOf(ctx.plan.name).toEqualTypeOf<string>()
    },
  })
  const plans = [{ id: 'p1', name: 'small', description: 'p', metadata: { bullets: ['a'] } }] as const
  defineService({
    ...base,
    plans,
    provision(ctx) {
      expectTypeOf(ctx.plan.name).toEqualTypeOf<'small'>()
      expectTypeOf(ctx.plan.id).toEqualTypeOf<'p1'>()
    },
    bindable: false,
    deprovision() {},
  })
  const sizes = ['small', 'large'] as const
  defineService({
    ...base,
    plans: sizes.map(name => ({ id: `id-${name}` as const, name, description: name })),
    provision(ctx) {
      expectTypeOf(ctx.plan.name).toEqualTypeOf<'small' | 'large'>()
      expectTypeOf(ctx.plan.id).toEqualTypeOf<'id-small' | 'id-large'>()
    },
    bindable: false,
    deprovision() {},
  })
  // What is computed from data, and a YAML catalog: any text.
  const computed: Plan[] = []
  defineService({
    ...base,
    plans: computed,
    provision(ctx) {
      expectTypeOf(ctx.plan.name).toEqualTypeOf<string>()
    },
    bindable: false,
    deprovision() {},
  })
  defineService({
    id: 'x',
    provision(ctx) {
      expectTypeOf(ctx.plan.name).toEqualTypeOf<string>()
    },
    deprovision() {},
  })
})

test('a service can be varied', () => {
  const one = defineService({ ...base, bindable: false, provision: () => ({ state: { a: 1 } }), deprovision() {} })
  defineService({ ...one, id: 'two', name: 'two' })
})
