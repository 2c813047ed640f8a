import { describe, expect, it } from 'vitest'
import { copyJson } from './check-json.ts'
import { listFields } from './describe.ts'
import {
  anything,
  cron,
  decimal,
  duration,
  file,
  flag,
  folder,
  json,
  oneOf,
  semver,
  size,
  text,
  wholeNumber,
} from './fields.ts'
import { fromCode } from './place.ts'
import { read } from './read.ts'
import { fallback, list, object, optional, type Shape, section } from './shape.ts'

describe('fields', () => {
  it.each<[string, Shape, readonly (readonly [given: unknown, read: unknown])[], readonly unknown[]]>([
    ['a text', text(), [['a', 'a']], ['', '  ', 1, null]],
    ['a file', file(), [['a', 'a']], ['', 1]],
    ['a folder', folder(), [['a', 'a']], ['', 1]],
    ['a cron pattern', cron(), [['* * * * *', '* * * * *']], ['', 5]],
    ['a semantic version', semver(), [['1.2.3-a.1+b', '1.2.3-a.1+b']], ['1.2', 'v1.2.3', 1]],
    [
      'a flag',
      flag(),
      [
        [true, true],
        [false, false],
      ],
      ['true', 1, null],
    ],
    [
      'a choice',
      oneOf(['a', 5]),
      [
        ['a', 'a'],
        [5, 5],
      ],
      ['b', '5'],
    ],
    ['a whole number', wholeNumber(1, 5), [[5, 5]], [0, 6, 1.5, '5', Number.NaN]],
    ['a number', decimal(1, 5), [[1.5, 1.5]], [0.9, 5.1, '2']],
    [
      'a duration',
      duration('1s', '1d'),
      [
        ['90s', 90_000],
        [1000, 1000],
        ['PT1H30M', 5_400_000],
      ],
      ['25h', '1', 'PT'],
    ],
    [
      'a size',
      size('1KB', '1GB'),
      [
        ['16KB', 16_384],
        ['1 mb', 1_048_576],
        [2048, 2048],
      ],
      ['1', '2GB', '1TB'],
    ],
    [
      'JSON',
      json(),
      [[{ a: [1, null, { b: 'c' }] }, { a: [1, null, { b: 'c' }] }]],
      [[], 'a', { a: 1n }, { a: new Date() }],
    ],
    [
      'anything',
      anything('a registry'),
      [
        ['a', 'a'],
        [5, 5],
      ],
      [],
    ],
  ])('reads %s', (_, shape, right, wrong) => {
    for (const [given, value] of right) expect(read(shape, fromCode(given))).toMatchObject({ ok: true, value })
    for (const given of wrong) expect(read(shape, fromCode(given))).toMatchObject({ ok: false, mistakes: [{}] })
  })

  it('knows no JSON in what contains itself', () => {
    const circle: Record<string, unknown> = {}
    circle.self = circle
    expect(read(json(), fromCode(circle)).ok).toBe(false)
    expect(() => copyJson(circle)).toThrow('it is nested more than 100 levels deep')
    expect(copyJson({ a: [1], b: undefined })).toEqual({ a: [1] })
  })

  it('are listed for the reference', () => {
    const shape = object({
      port: fallback(wholeNumber(0, 9, { doc: 'The port.' }), 8),
      users: list(object({ name: text() })),
      log: section({ level: optional(text()) }),
    })
    const listed = listFields(shape).map(({ path, described: { info, preset } }) => [path.join('.'), info.rule, preset])
    expect(listed).toEqual([
      ['port', 'a whole number from 0 to 9', 8],
      ['users.[].name', 'a text', undefined],
      ['log.level', 'a text', undefined],
    ])
    expect(listFields(shape, { sections: true }).map(({ path }) => path.join('.'))).toContain('log')
  })
})
