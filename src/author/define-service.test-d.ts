import { expectTypeOf, test } from 'vitest'
import { z } from 'zod'
import type { JsonObject } from '../protocol/json.ts'
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
