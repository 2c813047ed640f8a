import { describe, expect, expectTypeOf, it } from 'vitest'
import { duration, flag, json, oneOf, semver, text, wholeNumber } from './fields.ts'
import { explain, type Mistake } from './mistake.ts'
import { fromCode, showPath, showPlace } from './place.ts'
import { type ReadOptions, read } from './read.ts'
import { fallback, list, map, object, optional, type Read, type Shape, section, type Written } from './shape.ts'
import { toWire, type Wire } from './wire.ts'
import { readYaml } from './yaml.ts'

const plan = object({
  id: text(),
  planUpdateable: optional(flag({ since: 15 })),
  metadata: optional(json()),
  maintenanceInfo: optional(object({ version: semver({ since: 16 }) }, { since: 15 })),
})

const settings = object({
  engine: section(
    {
      lease: fallback(duration('1s', '1h'), '30s'),
      callTimeout: fallback(duration('1s', '1h'), '12s'),
      mode: fallback(oneOf(['fast', 'safe']), 'safe'),
    },
    {
      rules: [
        ({ lease, callTimeout }) =>
          Number(callTimeout) >= Number(lease) && { error: 'must be shorter than engine.lease', path: ['callTimeout'] },
      ],
    },
  ),
  users: fallback(list(object({ name: text(), password: text({ secret: true }), roles: optional(list(text())) })), []),
  tags: optional(map(text())),
  port: optional(wholeNumber(0, 65_535)),
})

describe('a shape', () => {
  it('reads what is given and fills in the rest', () => {
    const reading = read(settings, fromCode({ engine: { lease: '1m' } }))
    expect(reading).toEqual({
      ok: true,
      value: { engine: { lease: 60_000, callTimeout: 12_000, mode: 'safe' }, users: [] },
      mistakes: [],
    })
  })

  it('has the types of what is written and of what is read', () => {
    expectTypeOf<NonNullable<Written<typeof settings>['engine']>['lease']>().toEqualTypeOf<
      number | `${number}ms` | `${number}s` | `${number}m` | `${number}h` | `${number}d` | undefined
    >()
    expectTypeOf<Read<typeof settings>['engine']['lease']>().toEqualTypeOf<number>()
    expectTypeOf<Read<typeof settings>['port']>().toEqualTypeOf<number | undefined>()
    expectTypeOf<Wire<Read<typeof plan>>['plan_updateable']>().toEqualTypeOf<boolean | undefined>()
  })

  it('finds every mistake at once, each with its place, rule and remedy', () => {
    const text = `engine:
  lease: tomorrow
  call-timeout: 2h
  lese: 5s
users:
  - name: ada
    password: [secret]
  - name: bob
    password: x
    Name: bob
port: 80000`
    expect(mistakesOf(settings, text)).toEqual([
      'f.yaml:4 engine.lese: is not known here; did you mean lease?',
      'f.yaml:10 users[1].name: is given twice, first in line 8; keep one',
      'f.yaml:2 engine.lease: found "tomorrow"; allowed: a duration from 1s to 1h, such as 500ms, 90s, 5m, 2h or 10d',
      'f.yaml:3 engine.callTimeout: found "2h"; allowed: a duration from 1s to 1h, such as 500ms, 90s, 5m, 2h or 10d',
      'f.yaml:7 users[0].password: found a list; allowed: a text',
      'f.yaml:11 port: found 80000; allowed: a whole number from 0 to 65535',
    ])
  })

  it('keeps rules about several fields beside other mistakes, and names a default that breaks one', () => {
    expect(mistakesOf(settings, 'engine: { lease: 5s, mode: slow }')).toEqual([
      'f.yaml:1 engine.mode: found "slow"; allowed: fast or safe',
      'f.yaml:1 engine.callTimeout: found its default "12s"; must be shorter than engine.lease',
    ])
  })

  it('warns where a rule does, and has the value all the same', () => {
    const shape = object(
      { name: text() },
      { rules: [({ name }) => name === 'x' && { severity: 'warning', path: ['name'], error: 'needs more letters' }] },
    )
    expect(read(shape, fromCode({ name: 'x' }))).toMatchObject({
      ok: true,
      value: { name: 'x' },
      mistakes: [{ severity: 'warning', path: ['name'] }],
    })
  })

  it('never shows what may be a secret', () => {
    expect(mistakesOf(settings, 'users: [{ name: ada, password: 77 }]', { valuesAsText: false })).toEqual([
      'f.yaml:1 users[0].password: found a number (not shown); allowed: a text',
    ])
    expect(mistakesOf(settings, 'users: hunter2')).toEqual([
      'f.yaml:1 users: found a text (not shown); allowed: a list',
    ])
    expect(readYaml('password: hunter2: x', { name: 'f.yaml' }).faults).toMatchObject([
      { place: { line: 1 }, problem: expect.not.stringContaining('hunter2') },
    ])
  })

  it('takes a number for the text that was written', () => {
    const { documents } = readYaml('{ users: [], tags: { a: 1.10 }, port: "80" }', { name: 'f.yaml' })
    expect(documents.map(source => read(settings, source, { textAsValues: true, valuesAsText: true }))).toMatchObject([
      { ok: true, value: { tags: { a: '1.10' }, port: 80 } },
    ])
  })

  it('reports tags that nobody knows, also inside of what is kept as it is', () => {
    expect(mistakesOf(plan, 'id: a\nmetadata:\n  x: !secret y')).toEqual([
      'f.yaml:3 metadata.x: has the tag "!secret", which has no meaning here; remove it',
    ])
  })

  it('is written for the wire, with what a version of the API knows', () => {
    const value = { id: 'a', planUpdateable: true, metadata: { someKey: 1 }, maintenanceInfo: { version: '1.0.0' } }
    expect(toWire(plan, value, 17)).toEqual({
      id: 'a',
      plan_updateable: true,
      metadata: { someKey: 1 },
      maintenance_info: { version: '1.0.0' },
    })
    expect(toWire(plan, value, 15)).toEqual({ id: 'a', plan_updateable: true, metadata: { someKey: 1 } })
    expect(toWire(plan, value, 14)).toEqual({ id: 'a', metadata: { someKey: 1 } })
  })
})

function mistakesOf(shape: Shape, text: string, options: ReadOptions = {}): string[] {
  const { documents, faults } = readYaml(text, { name: 'f.yaml' })
  expect(faults).toEqual([])
  return documents.flatMap(source =>
    read(shape, source, { lenient: true, textAsValues: true, valuesAsText: true, ...options }).mistakes.map(format),
  )
}

function format(mistake: Mistake): string {
  return `${mistake.place && showPlace(mistake.place)} ${showPath(mistake.path)}: ${explain(mistake)}`
}
