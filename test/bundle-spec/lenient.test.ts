/** What the Automation Broker took is taken here, with a warning. */
import { describe, expect, it } from 'vitest'
import { checkBundle } from '../../src/bundle/check-bundle.ts'
import { formatMistake } from '../../src/bundle/mistakes.ts'
import { createParameterSchema } from '../../src/catalog/parameters.ts'
import type { Json } from '../../src/protocol/json.ts'
import { specWith } from './specs.ts'

async function check(parameters: readonly object[], plan = {}) {
  const source = specWith({}, { parameters: parameters.map(one => ({ type: 'string', ...one })), ...plan })
  const { bundle, problems } = await checkBundle(source, { where: 'apb.yml', registry: 'dh' })
  const schemas = bundle?.offering.plans[0]?.schemas?.serviceInstance
  const judge = (schema: NonNullable<typeof schemas>['create'], given: Record<string, Json>) =>
    createParameterSchema(schema?.parameters ?? {}).check(given)
  return {
    bundle,
    problems: problems.map(formatMistake),
    create: (given: Record<string, Json>) => judge(schemas?.create, given),
    update: (given: Record<string, Json>) => judge(schemas?.update, given),
  }
}

describe('a default that breaks its own rule', () => {
  it.each<[rule: string, parameter: { readonly default: Json }, good: Json, bad: Json]>([
    ['enum', { enum: ['a'], default: 'b' }, 'a', 'c'],
    ['minLength', { min_length: 2, default: 'a' }, 'ab', 'b'],
    ['maxLength', { max_length: 1, default: 'ab' }, 'a', 'cd'],
    ['pattern', { pattern: '^[a-z]+$', default: '' }, 'abc', 'A'],
    ['minimum', { type: 'int', minimum: 2, default: 1 }, 2, 0],
    ['maximum', { type: 'int', maximum: 2, default: 9 }, 2, 3],
    ['exclusiveMaximum', { type: 'int', exclusive_maximum: 2, default: 2 }, 1, 3],
    ['multipleOf', { type: 'number', multiple_of: 2, default: 3 }, 4, 5],
  ] as never)('%s: it is filled in, and any other value is judged', async (rule, parameter, good, bad) => {
    const { problems, create, update } = await check([{ name: 'p', required: true, updatable: true, ...parameter }])
    expect(problems).toEqual([
      expect.stringContaining(`warning: the default of the parameter "p" breaks its own "${rule}"`),
    ])
    expect(await create({})).toEqual({ ok: true, value: { p: parameter.default } })
    expect(await create({ p: good })).toEqual({ ok: true, value: { p: good } })
    expect(await create({ p: bad })).toMatchObject({ ok: false })
    // An instance has it stored, and an update sends it along.
    expect(await create({ p: parameter.default })).toMatchObject({ ok: true })
    expect(await update({ p: parameter.default })).toMatchObject({ ok: true })
    expect(await update({ p: bad })).toMatchObject({ ok: false })
  })

  it('may break an enum and another rule at once, and be what others depend on', async () => {
    const { problems, create } = await check([
      { name: 'mode', enum: ['one', 'two'], max_length: 3, default: 'other' },
      { name: 'more', required: true, dependencies: [{ key: 'mode', value: 'one' }] },
    ])
    expect(problems).toEqual([expect.stringContaining('"enum"'), expect.stringContaining('"maxLength"')])
    expect(await create({})).toEqual({ ok: true, value: { mode: 'other' } })
    expect(await create({ mode: 'one' })).toMatchObject({
      ok: false,
      problems: expect.arrayContaining(['parameters.more: is required']),
    })
  })
})

it('a demand under a condition is met by a default', async () => {
  const { problems, create } = await check([
    { name: 'mode', enum: ['one', 'two'] },
    { name: 'size', required: true, default: 'm', dependencies: [{ key: 'mode', value: 'one' }] },
    { name: 'user', required: true, dependencies: [{ key: 'mode', value: 'one' }] },
  ])
  expect(problems).toEqual([expect.stringContaining('may be left out; let the bundle have the default too')])
  expect(await create({ mode: 'one', user: 'u' })).toEqual({ ok: true, value: { mode: 'one', user: 'u' } })
  expect(await create({ mode: 'one' })).toMatchObject({
    ok: false,
    problems: expect.arrayContaining(['parameters.user: is required']),
  })
  expect(await create({ mode: 'two', size: 'l' })).toMatchObject({ ok: false })
})

it('a way to a plan that does not exist leads nowhere', async () => {
  const { bundle, problems } = await check([], { updates_to: ['gone'] })
  expect(problems).toEqual([
    expect.stringContaining('warning: "updates_to" leads to "gone", and no plan has that name: it has no effect'),
  ])
  expect(bundle?.spec.plans[0]?.updatesTo).toEqual([])
  expect(bundle?.offering.planUpdateable).toBe(false)
})

it.each(['(?i)^[a-z]+$', '\\Aabc\\z'])('the pattern %s is taken as Go means it', async pattern => {
  const { problems, create } = await check([{ name: 'p', pattern }])
  expect(problems).toEqual([expect.stringContaining('warning')])
  expect(await create({ p: pattern.startsWith('(') ? 'ABC' : 'abc' })).toMatchObject({ ok: true })
  expect(await create({ p: '1' })).toMatchObject({ ok: false })
})
