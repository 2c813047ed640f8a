import type { JsonObject } from '../../protocol/json.ts'
import { assert } from './assert.ts'
import {
  bind,
  bindingRow,
  claimOne,
  instanceRow,
  leaseOf,
  operationRow,
  provision,
  snapshotOf,
  standing,
  stepRow,
} from './rows.ts'
import { storeCase } from './subject.ts'

/** Ids come from platforms and may hold anything a URL can carry. No two of these are the same id. */
const ids = [
  'a',
  'A',
  'a ',
  ' a',
  'a/b',
  'a%2Fb',
  '%',
  '_',
  "it's",
  '"quoted"',
  "'; drop table instance; --",
  'é',
  'e\u0301',
  '雪☃🚀',
  '\u202eright to left',
  'line\nbreak\ttab',
  '__proto__',
  'constructor',
  '0',
  '00',
  '1e3',
  'null',
  'x'.repeat(10_000),
  'x'.repeat(9_999),
]

const values: Record<string, JsonObject> = {
  'unicode and controls': { 'ключ☃': 'значение 🚀 \u0000 \u0001 \u2028 \\ " \' ', '': 'empty key' },
  'names that objects have': JSON.parse(
    '{"__proto__": {"polluted": true}, "constructor": 1, "toString": null, "length": 0}',
  ),
  'numbers at the edge': {
    max: 2 ** 53 - 1,
    min: -(2 ** 53 - 1),
    huge: 1.7976931348623157e308,
    tiny: 5e-324,
    third: 1 / 3,
  },
  'text like numbers': { a: '007', b: '1e400', c: 'true', d: '9007199254740993' },
  'empty things': { object: {}, array: [], text: '', nothing: null, zero: 0, no: false },
  nested: { a: [[{ b: [null, [{ c: { d: [1, 'two', [3]] } }]] }]] },
  deep: Array.from({ length: 200 }).reduce<JsonObject>(inner => ({ inner }), { end: true }),
  large: { text: 'päyload '.repeat(50_000) },
}

export const valueCases = [
  ...Object.entries(values).map(([name, value]) =>
    storeCase(`values: ${name} come back as they were, in every sealed field`, async ({ store, clock }) => {
      await standing(store, 'i', { parameters: value, state: value, context: value })
      const binding = bindingRow('i', 'b', { parameters: value, state: value, result: value, bindResource: value })
      const operation = operationRow('o', 'i', {
        bindingId: 'b',
        action: 'bind',
        input: { parameters: value, context: value },
      })
      await store.accept({ instanceId: 'i' }, () => ({
        answer: 0,
        change: { bindings: [binding], operations: [operation] },
      }))
      const lease = leaseOf(await claimOne(store))
      await store.checkpoint(lease, { step: stepRow('one', { output: value }) })
      await store.park(lease, { until: clock.now() })
      const claim = await claimOne(store)
      assert.deepEqual([claim.instance.parameters, claim.instance.state, claim.instance.context], [value, value, value])
      assert.deepEqual(claim.binding, binding)
      assert.deepEqual(claim.operation.input, { parameters: value, context: value })
      assert.deepEqual(claim.steps[0]?.output, value)
      assert.equal(JSON.stringify(claim.steps[0]?.output), JSON.stringify(value), 'the order of keys is kept too')
      assert.equal(({} as { polluted?: boolean }).polluted, undefined)
      await store.checkpoint(leaseOf(claim), { state: value })
      assert.deepEqual((await store.binding('i', 'b'))?.state, value)
    }),
  ),

  storeCase('values: a step’s output is any JSON value, or none', async ({ store, clock }) => {
    const outputs = [null, 0, '', false, 'text', [1, [2]], { a: null }]
    await provision(store, 'i')
    const lease = leaseOf(await claimOne(store))
    for (const [index, output] of outputs.entries())
      await store.checkpoint(lease, { step: stepRow(`${index}`, { output }) })
    await store.checkpoint(lease, { step: stepRow('none') })
    await store.checkpoint(lease, { step: stepRow('undefined', { output: undefined }) })
    await store.park(lease, { until: clock.now() })
    const { steps } = await claimOne(store)
    assert.deepEqual(
      steps.slice(0, outputs.length).map(step => step.output),
      outputs,
    )
    assert.deepEqual(steps.slice(outputs.length), [stepRow('none'), stepRow('undefined')])
  }),

  storeCase('values: what JSON cannot hold becomes what JSON makes of it', async ({ store, clock }) => {
    const output = { at: new Date(0), gone: undefined, list: [undefined, Number.NaN], map: new Map([[1, 2]]) }
    await provision(store, 'i')
    const lease = leaseOf(await claimOne(store))
    await store.checkpoint(lease, { step: stepRow('one', { output }) })
    await store.checkpoint(lease, { state: { kept: 1, gone: undefined } })
    await store.park(lease, { until: clock.now() })
    const claim = await claimOne(store)
    assert.deepEqual(claim.steps[0]?.output, { at: '1970-01-01T00:00:00.000Z', list: [null, null], map: {} })
    assert.deepEqual(claim.instance.state, { kept: 1 })
  }),

  storeCase('values: what JSON refuses is refused, and nothing is written', async ({ store }) => {
    await provision(store, 'i')
    const claim = await claimOne(store)
    const output: { self?: unknown } = {}
    output.self = output
    await assert.rejects(store.checkpoint(leaseOf(claim), { description: 'x', step: stepRow('one', { output }) }))
    assert.deepEqual(await store.operation(claim.operation.id), claim.operation)
  }),

  storeCase('ids: any characters, none taken for another', async ({ store, clock }) => {
    for (const id of ids) {
      await store.accept({ instanceId: id }, () => ({
        answer: 0,
        change: {
          instance: instanceRow(id, { phase: 'ready', observeAt: clock.now(), context: { id } }),
          history: [{ at: 1, type: 'accepted', instanceId: id, message: id }],
        },
      }))
    }
    for (const id of ids) {
      await bind(store, id, id)
      assert.deepEqual((await store.instance(id))?.context, { id })
      assert.equal((await store.history(id)).length, 1)
    }
    assert.deepEqual(await store.dueForObservation(100), ids)
    const { claims } = await store.claim('w', 100, 1000)
    assert.deepEqual(
      claims.map(claim => claim.binding?.id),
      ids,
    )
    for (const claim of claims) {
      const lease = leaseOf(claim)
      await store.checkpoint(lease, { step: stepRow(claim.instance.id, { output: claim.instance.id }) })
      await store.share(lease, claim.instance.id, 'acquire')
      assert.deepEqual((await snapshotOf(store, { instanceId: claim.instance.id })).busyBindings, 1)
      assert.equal((await store.operation(claim.operation.id))?.bindingId, claim.instance.id)
    }
  }),

  storeCase('ids: pairs that read alike when joined are apart', async ({ store }) => {
    for (const [instanceId, bindingId] of [
      ['a', 'b/c'],
      ['a/b', 'c'],
      ['a:b', 'c'],
      ['a', 'b:c'],
      ['a b', 'c'],
      ['a', 'b c'],
    ] as const) {
      await standing(store, instanceId)
      await bind(store, instanceId, bindingId, { id: `${instanceId} | ${bindingId}` })
    }
    assert.deepEqual(
      (await store.bindings('a')).map(binding => binding.id),
      ['b/c', 'b:c', 'b c'],
    )
    assert.equal((await store.claim('w', 10, 1000)).claims.length, 6)
  }),
]
