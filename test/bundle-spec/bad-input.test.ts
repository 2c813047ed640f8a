import { describe, expect, it } from 'vitest'
import { parseBundleSpec } from '../../src/bundle/spec.ts'
import { errorsOf, problemsOf, specWith } from './specs.ts'

const withParameter = (parameter: unknown) => specWith({}, { parameters: [parameter] })
const named = (more: object) => withParameter({ name: 'p', type: 'string', ...more })

describe('a broken spec', () => {
  it('gets all its problems at once, each with its line', () => {
    const source = `version: 2.0
description: ""
bindable: maybe
bundle_version: 1.2
entrypoint: ../../bin/sh
alpha: {dashboard_redirect: later}
timeouts: {provision: 600, bind: soon, unbind: 0s, update: 60d}
resources: {memory: much, cpu: 0, provision: {output: -1}}
plans:
  - name: a
    updates_to: [b, c]
    parameters:
      - name: x
        type: strng
      - type: string
      - name: y
        type: int
        default: five
  - description: nameless
`
    expect(errorsOf(source)).toEqual([
      'bundle.yml:1: version: error: the version of the format must be 1.0, not "2.0"; write "version: 1.0", and the version of the bundle as "bundle_version"',
      'bundle.yml:1: error: the spec has no name; give it one with "name"',
      'bundle.yml:2: description: error: "description" is empty; give it a text',
      'bundle.yml:3: bindable: error: "bindable" must be true or false, not a text; write it without quotes',
      'bundle.yml:4: bundle_version: error: "bundle_version" must be a semantic version, not "1.2"; write three numbers in quotes, such as "1.2.0"',
      'bundle.yml:5: entrypoint: error: "entrypoint" must be a path inside the bundle, not "../../bin/sh"; write one such as bin/run.sh',
      'bundle.yml:6: alpha: error: "dashboard_redirect" must be true or false; write it without quotes',
      'bundle.yml:7: timeouts.provision: error: the timeout of provision must be a length of time with its unit, above 0 and at most 30d, not "600"; write a number and s, m, h or d, such as 90s or 2h',
      'bundle.yml:7: timeouts.update: error: the timeout of update must be a length of time with its unit, above 0 and at most 30d, not "60d"; write a number and s, m, h or d, such as 90s or 2h',
      'bundle.yml:7: timeouts.bind: error: the timeout of bind must be a length of time with its unit, above 0 and at most 30d, not "soon"; write a number and s, m, h or d, such as 90s or 2h',
      'bundle.yml:7: timeouts.unbind: error: the timeout of unbind must be a length of time with its unit, above 0 and at most 30d, not "0s"; write a number and s, m, h or d, such as 90s or 2h',
      'bundle.yml:8: resources.memory: error: "memory" must be a size, not "much"; write a number and Ki, Mi or Gi (or k, M, G), such as 256Mi',
      'bundle.yml:8: resources.cpu: error: "cpu" must be a number of cores, not 0; write one such as 0.5, or thousandths such as 500m',
      'bundle.yml:8: resources.provision.output: error: "output" must be a size, not "-1"; write a number and Ki, Mi or Gi (or k, M, G), such as 256Mi',
      'bundle.yml:14: plans[0].parameters[0].type: error: the parameter "x" has the unknown type "strng"; use one of string, integer, number, boolean, object, array, null, enum, int, bool, nil',
      'bundle.yml:15: plans[0].parameters[1]: error: the parameter has no name; give it one with "name"',
      'bundle.yml:18: plans[0].parameters[2].default: error: the default of the parameter "y" is not of type integer; correct it',
      'bundle.yml:19: plans[1]: error: the plan has no name; give it one with "name"',
    ])
    expect(parseBundleSpec(source, 'bundle.yml').spec).toBeUndefined()
  })

  it.each([
    ['no plans', specWith({ plans: [] }), /no plans/],
    ['plans that are not a list', specWith({ plans: { a: 1 } }), /"plans" must be a list, not a map/],
    ['a plan that is not an object', specWith({ plans: ['a'] }), /a plan must be a map/],
    ['two plans of one name', specWith({ plans: [{ name: 'a' }, { name: 'a' }] }), /second plan "a"/],
    ['two spellings', specWith({}, { updates_to: [], updatesTo: [] }), /"updatesTo" is given twice/],
    ['two parameters of one name', specWith({}, { parameters: [p('a'), p('a')] }), /second parameter "a"/],
    ['a parameter that is a text', withParameter('x'), /a parameter must be a map/],
    ['a parameter without a type', withParameter({ name: 'p' }), /the parameter "p" has no type/],
    ['an unknown type', named({ type: 'float' }), /the parameter "p" has the unknown type "float"/],
    ['a type that is an object', named({ type: {} }), /unknown type/],
    ['a pattern that does not compile', named({ pattern: '(' }), /pattern of the parameter "p" is not a regular/],
    [
      'a pattern with a look-around',
      named({ pattern: '(?!a)' }),
      /pattern of the parameter "p" has a look-around.*; write/,
    ],
    ['a default of another type', named({ type: 'int', default: 1.5 }), /not of type integer/],
    ['a default that is an object', named({ default: {} }), /not of type string/],
    ['an enum of objects', named({ enum: [{}] }), /value of the enum of the parameter "p" is not of type string/],
    ['an enum of null', named({ enum: [null] }), /not of type string/],
    ['an enum of texts for an int', named({ type: 'int', enum: ['a'] }), /not of type integer/],
    ['an empty enum', named({ enum: [] }), /enum of the parameter "p" is empty/],
    ['an enum that is not a list', named({ enum: 'a' }), /"enum" must be a list/],
    ['an enum of an object', named({ type: 'object', enum: ['a'] }), /can have no "enum"/],
    ['a negative length', named({ max_length: -1 }), /whole number from 0 on/],
    ['lengths that exclude each other', named({ min_length: 3, max_length: 2 }), /no text fits/],
    ['bounds that exclude each other', named({ type: 'int', minimum: 3, maximum: 2 }), /no number fits/],
    ['bounds that touch', named({ type: 'int', minimum: 3, exclusive_maximum: 3 }), /no number fits/],
    ['a flag for a bound', named({ type: 'int', maximum: 3, exclusive_maximum: true }), /must be a number/],
    ['a negative step', named({ type: 'int', multiple_of: -1 }), /must be above 0/],
    ['a dependency without a key', named({ dependencies: [{ value: 1 }] }), /has no "key"/],
    [
      'a dependency on nothing',
      named({ dependencies: [{ key: 'q' }] }),
      /depends on "q", which is not another parameter/,
    ],
    ['a dependency on itself', named({ dependencies: [{ key: 'p' }] }), /not another parameter/],
    ['metadata that is a text', specWith({ metadata: 'x' }), /"metadata" must be a map/],
    ['tags that are objects', specWith({ tags: [{}] }), /a tag must be a text, not a map/],
    ['an empty tag', specWith({ tags: [''] }), /a tag is empty/],
    ['a map of parameters', specWith({}, { parameters: { size: { type: 'string' } } }), /neither a list of parameters/],
    ['a schema of no object', specWith({}, { parameters: { type: 'string' } }), /takes no object/],
    ['a schema of no known draft', specWith({}, { parameters: { $schema: 'urn:x' } }), /none of the known drafts/],
    [
      'a schema that refers to another',
      specWith({}, { parameters: { properties: { a: { $ref: 'http://example.com/x' } } } }),
      /a \$ref begins with #/,
    ],
    [
      'parameters of more than 64 KB',
      named({ type: 'string', default: 'x'.repeat(65_536) }),
      /the OSB API allows 65536/,
    ],
  ])('%s', (_, source, problem) => {
    expect(errorsOf(source).join('\n')).toMatch(problem)
    expect(parseBundleSpec(source, 'bundle.yml').spec).toBeUndefined()
  })

  it.each([null, undefined, 5, true, [], 'text', '- a', '', '# nothing\n', '---\n', Symbol('x'), () => 1, new Date(0)])(
    'that is %o altogether',
    source => expect(errorsOf(source)).toHaveLength(1),
  )

  it('never repeats a default, which may be a secret', () => {
    const secret = 'hunter2hunter2'
    const shown = problemsOf(named({ sensitive: true, default: secret, max_length: 3, enum: ['a'] })).join('\n')
    expect(shown).toContain('default')
    expect(shown).not.toContain(secret)
  })
})

describe('hostile text', () => {
  it('of broken YAML names the line', () => {
    expect(errorsOf('version: 1.0\nname: "a\n')[0]).toMatch(/^bundle\.yml:\d: error: not valid YAML/)
    expect(errorsOf('version: 1.0\n\tname: a\n')[0]).toMatch(/^bundle\.yml:2: error: not valid YAML/)
  })

  it('of two documents is refused', () => {
    expect(errorsOf('a: 1\n---\nb: 1\n')).toEqual([
      'bundle.yml:3: error: a second document begins here; keep one spec in one file',
    ])
  })

  it('of more than 1 MB is refused before it is parsed', () => {
    expect(errorsOf(`name: ${'x'.repeat(1024 * 1024)}`)[0]).toMatch(/it has 1048582 bytes, and 1048576 is the limit/)
  })

  it('with the same key twice is refused', () => {
    expect(errorsOf('name: a\nname: b\n')).toEqual([
      'bundle.yml:2: error: the key "name" is given twice, first in line 1; remove one of them',
    ])
  })

  it.each(['__proto__: {a: 1}\n', 'metadata: {x: [{__proto__: 1}]}\n'])(
    'that sets a prototype is refused: %s',
    text => {
      expect(errorsOf(text)[0]).toMatch(/must not be called __proto__/)
      expect(errorsOf(JSON.parse('{"metadata":{"__proto__":{"polluted":1}}}'))[0]).toMatch(
        /must not be called __proto__/,
      )
      expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false)
    },
  )

  it.each(['constructor', 'toString', '__proto__'])(
    'with a parameter called %s, which every object has, is refused',
    name => {
      expect(errorsOf(specWith({}, { parameters: [p(name)] }))[0]).toMatch(/a parameter cannot be called/)
      const schema = (properties: object) => specWith({}, { parameters: { type: 'object', properties } })
      if (name !== '__proto__') expect(errorsOf(schema({ [name]: {} }))[0]).toMatch(/a parameter cannot be called/)
    },
  )

  it('takes a name that every object has for a name, elsewhere', () => {
    expect(errorsOf(specWith({ constructor: 1, metadata: { toString: 1 } }, { name: 'constructor' }))).toEqual([])
    expect(errorsOf(named({ dependencies: [{ key: 'constructor' }] }))[0]).toMatch(/not another parameter/)
  })

  it('whose aliases unfold to billions is refused', () => {
    const levels = Array.from({ length: 12 }, (_, i) =>
      i === 0
        ? 'a0: &a0 [x, x, x, x, x, x, x, x, x, x]'
        : `a${i}: &a${i} [${Array(10)
            .fill(`*a${i - 1}`)
            .join(', ')}]`,
    )
    expect(errorsOf(levels.join('\n'))[0]).toMatch(/unfolds to more than 100000 values/)
    const merges = `a: &a {${Array.from({ length: 2000 }, (_, i) => `k${i}: 1`).join(', ')}}\nb: {<<: [${Array(5000).fill('*a').join(', ')}]}`
    expect(errorsOf(merges)[0]).toMatch(/unfolds to more than 100000 values/)
  })

  it('whose alias contains itself, or names nothing, is refused', () => {
    expect(errorsOf('a: &a [*a]')[0]).toMatch(/anchor &a contains an alias of itself/)
    expect(errorsOf('a: &a {<<: *a}')[0]).toMatch(/contains an alias of itself/)
    expect(errorsOf('a: *b')[0]).toMatch(/no anchor of that name stands before/)
    const cyclic: Record<string, unknown> = {}
    cyclic.metadata = cyclic
    expect(errorsOf(cyclic)[0]).toMatch(/nested more than 100 levels deep/)
  })

  // The parser ends the whole process over the longer ones, so this also shows that it never sees them.
  it.each([
    ['brackets', '['.repeat(100_000)],
    ['closed brackets', `${'['.repeat(50_000)}${']'.repeat(50_000)}`],
    ['braces', '{a: '.repeat(50_000)],
    ['dashes', '- '.repeat(100_000)],
    ['keys', '? '.repeat(100_000)],
    ['indentation', Array.from({ length: 500 }, (_, i) => `${' '.repeat(i)}a:`).join('\n')],
  ])('that nests without end is refused: %s', (_, text) => {
    expect(errorsOf(text)).toEqual([expect.stringMatching(/nested more than 100 levels deep/)])
  })

  it('with a key, a tag or a number that JSON does not know is refused', () => {
    expect(errorsOf('? [a, b]\n: 1')[0]).toMatch(/is not a text/)
    expect(errorsOf('name: !secret x')[0]).toMatch(/has the tag "!secret", which has no meaning here/)
    expect(errorsOf('metadata: {x: .inf}')[0]).toMatch(/JSON cannot hold this value/)
    expect(errorsOf('<<: 5')[0]).toMatch(/merges maps only/)
  })

  it.each([
    ['tags', { tags: Array(90_000).fill({}) }, 'and 89900 more mistakes; correct these first'],
    ['plans', { plans: Array(20_000).fill({}) }, 'and 19900 more mistakes; correct these first'],
    [
      'unknown keys',
      Object.fromEntries(Array.from({ length: 45_000 }, (_, index) => [`k${index}`, 1])),
      'and 44900 more warnings; correct these first',
    ],
  ])('with tens of thousands of mistakes is told a hundred: %s', (_, more, last) => {
    const problems = problemsOf(specWith(more))
    expect(problems.length).toBeLessThanOrEqual(102)
    expect(problems.join('').length).toBeLessThan(50_000)
    expect(problems.filter(problem => problem.endsWith(last))).toHaveLength(1)
  })

  it('has its errors told, however many warnings there are', () => {
    const keys = Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`k${index}`, 1]))
    expect(errorsOf(specWith({ ...keys, description: 5, tags: {} }))).toHaveLength(1)
    expect(parseBundleSpec(specWith({ ...keys, tags: {} }), 'bundle.yml').spec).toBeUndefined()
  })

  it.each([
    ['commas', `tags: [${','.repeat(1_000_000)}]`],
    ['documents', '---\n'.repeat(250_000)],
    ['lists', `tags: [${'[],'.repeat(300_000)}]`],
  ])('of a megabyte of %s is refused before its mistakes are looked for', (_, text) => {
    expect(problemsOf(text)).toEqual([
      expect.stringMatching(/^bundle\.yml:\d+: error: it has more than 100000 values; /),
    ])
  })

  it('that is no YAML is not read to its end', () => {
    // What comes later would be another fault.
    const problems = problemsOf(`name: x\n${'}'.repeat(30)}\n---\n${'- '.repeat(60_000)}a`)
    expect(problems.length).toBeGreaterThan(0)
    expect(problems.join()).not.toContain('nested')
    expect(problemsOf(`name: x\nmetadata: [${'}'.repeat(500_000)}`).length).toBeLessThan(21)
  })

  it('with as many keys as fit is read in one pass', () => {
    const text = Array.from({ length: 60_000 }, (_, i) => `k${i}: ${i}`).join('\n')
    expect(errorsOf(text)[0]).toMatch(/unfolds to more than 100000 values/)
  })
})

function p(name: string) {
  return { name, type: 'string' }
}
