import { describe, expect, it } from 'vitest'
import { type Harm, harmOf, type Published } from '../../src/domain/harm.ts'
import type { JsonObject } from '../../src/protocol/json.ts'
import type { Offering, Plan } from '../../src/protocol/offering.ts'

const size: JsonObject = {
  type: 'object',
  additionalProperties: false,
  properties: { size: { type: 'string', enum: ['s', 'm', 'l'] } },
}

function plan(name: string, more: Partial<Plan> = {}): Plan {
  return { id: `plan-${name}`, name, description: `The ${name} plan`, free: true, ...more }
}

function published(
  plans: readonly Plan[],
  more: Partial<Offering> = {},
  updatesTo?: Published['updatesTo'],
): Published {
  const offering = { id: 'pg', name: 'pg', description: 'A database', bindable: true, plans, ...more }
  return { offering, updatesTo }
}

const live = new Map([['plan-dev', 3]])
const kinds = (harms: readonly Harm[]) => harms.map(({ kind }) => kind)
const create = (parameters: JsonObject) => ({ schemas: { serviceInstance: { create: { parameters } } } })

describe('what a new revision would do to live instances', () => {
  it('nothing, where it offers the same and more', () => {
    const before = published([plan('dev', create(size))], {}, new Map([['dev', ['prod']]]))
    const wider = { ...size, properties: { size: { type: 'string' }, extra: { type: 'string' } } }
    const after = published([plan('dev', create(wider)), plan('prod')], {}, new Map([['dev', ['prod', 'big']]]))
    expect(harmOf(before, after, live)).toEqual([])
    expect(harmOf(before, before, live)).toEqual([])
  })

  it('a plan in use is removed', () => {
    expect(harmOf(published([plan('dev'), plan('prod')]), published([plan('prod')]), live)).toEqual([
      {
        kind: 'plan-removed',
        planId: 'plan-dev',
        plan: 'dev',
        instances: 3,
        problem: 'The plan is gone: keep it until its instances are deprovisioned.',
      },
    ])
  })

  it('a plan in use is renamed, which makes it another plan', () => {
    const after = published([plan('development', { description: 'The dev plan' })])
    const [harm] = harmOf(published([plan('dev')]), after, live)
    expect(harm).toMatchObject({ kind: 'plan-renamed', plan: 'dev' })
    expect(harm?.problem).toContain('"development"')
  })

  it('a plan in use is renamed under its id', () => {
    expect(kinds(harmOf(published([plan('dev')]), published([{ ...plan('x'), id: 'plan-dev' }]), live))).toEqual([
      'plan-renamed',
    ])
  })

  it('a plan that was there before is not taken for a renamed one', () => {
    const twin = plan('prod', { description: 'The dev plan' })
    expect(kinds(harmOf(published([plan('dev'), twin]), published([twin]), live))).toEqual(['plan-removed'])
  })

  it('bindings are taken away, by the service or by the plan', () => {
    const before = published([plan('dev')])
    expect(kinds(harmOf(before, published([plan('dev')], { bindable: false }), live))).toEqual(['not-bindable'])
    expect(kinds(harmOf(before, published([plan('dev', { bindable: false })]), live))).toEqual(['not-bindable'])
    expect(harmOf(before, published([plan('dev', { bindable: true })], { bindable: false }), live)).toEqual([])
  })

  it('updates are taken away, all or one of them', () => {
    const before = published([plan('dev')], { planUpdateable: true }, new Map([['dev', ['prod', 'big']]]))
    const one = published([plan('dev')], { planUpdateable: true }, new Map([['dev', ['big']]]))
    expect(harmOf(before, one, live)).toMatchObject([
      { kind: 'update-lost', problem: expect.stringContaining('"prod"') },
    ])
    const none = published([plan('dev')], {}, new Map())
    expect(kinds(harmOf(before, none, live))).toEqual(['not-updateable', 'update-lost', 'update-lost'])
  })

  it.each(['provision', 'update', 'bind'])('the parameters of %s are narrowed', action => {
    const schemas = (parameters: JsonObject) => ({
      provision: { serviceInstance: { create: { parameters } } },
      update: { serviceInstance: { update: { parameters } } },
      bind: { serviceBinding: { create: { parameters } } },
    })
    const pick = (parameters: JsonObject) =>
      published([
        plan('dev', { schemas: Object.entries(schemas(parameters)).find(([name]) => name === action)?.[1] ?? {} }),
      ])
    const narrow = { ...size, properties: { size: { type: 'string', enum: ['s', 'm'] } } }
    expect(harmOf(pick(size), pick(narrow), live)).toMatchObject([
      {
        kind: 'schema-narrowed',
        problem: `The parameters of ${action} take less: /size no longer takes the value "l".`,
      },
    ])
  })

  it('a plan that nobody uses can change as it likes', () => {
    expect(harmOf(published([plan('dev')]), published([plan('prod')], { bindable: false }), new Map())).toEqual([])
    expect(harmOf(published([plan('dev')]), published([plan('prod')]), new Map([['plan-dev', 0]]))).toEqual([])
  })

  it('takes a plan that is called like a property of every object', () => {
    const odd = { ...plan('constructor'), id: 'plan-dev' }
    expect(harmOf(published([odd], {}, new Map()), published([odd], {}, new Map()), live)).toEqual([])
  })
})
