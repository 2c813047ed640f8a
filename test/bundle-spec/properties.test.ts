import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { stringify } from 'yaml'
import { checkBundle } from '../../src/bundle/check-bundle.ts'
import { formatMistake } from '../../src/bundle/mistakes.ts'
import { type ParsedSpec, parseBundleSpec } from '../../src/bundle/spec.ts'
import { toOffering } from '../../src/bundle/to-offering.ts'
import { checkCatalog } from '../../src/catalog/check-catalog.ts'
import { compileSchema } from '../../src/catalog/compile-schema.ts'
import { formatProblem } from '../../src/catalog/problem.ts'
import { isError } from '../../src/shape/mistake.ts'

/** Names that meet often, and some that are traps. */
const name = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom('a', 'b', 'c', 'size', 'user', 'on') },
  { weight: 1, arbitrary: fc.constantFrom('constructor', 'toString', '$ref', 'properties', 'x y', '/', '~0') },
)
/** But for the key by which YAML takes another map in: read as YAML, it means something else. */
const junk = fc.jsonValue({ maxDepth: 2 }).filter(value => !JSON.stringify(value).includes('"<<":'))
/** Mostly what is meant, now and then anything. */
const mostly = (arbitrary: fc.Arbitrary<unknown>) => fc.oneof({ weight: 80, arbitrary }, { weight: 1, arbitrary: junk })
const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined, freq: 2 })
const rarely = <T>(arbitrary: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 5, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary })
const flag = fc.oneof(fc.boolean(), fc.constantFrom('yes', 'no'))

const shared = {
  name: mostly(name),
  title: optional(mostly(fc.string())),
  required: optional(mostly(flag)),
  updatable: optional(mostly(flag)),
  sensitive: optional(mostly(flag)),
  display_type: optional(mostly(fc.constantFrom('text', 'password', 'select'))),
  displayGroup: optional(mostly(fc.constantFrom('G', 'H'))),
  dependencies: rarely(
    fc.array(
      fc.record({
        key: mostly(name),
        value: optional(mostly(fc.oneof(fc.constantFrom('x', 'y', true, 1), fc.subarray(['x', 'y'])))),
      }),
      { maxLength: 2 },
    ),
  ),
}
const parameter = fc.oneof(
  fc.record({
    ...shared,
    type: mostly(fc.constantFrom('string', 'enum')),
    enum: optional(mostly(fc.subarray(['x', 'y', 'z', 1, true], { minLength: 1 }))),
    default: optional(mostly(fc.constantFrom('x', 'y', 1))),
    max_length: optional(mostly(fc.integer({ min: 0, max: 20 }))),
    min_length: optional(mostly(fc.integer({ min: 0, max: 2 }))),
    pattern: optional(fc.constantFrom('^.', '^\\w*$', '(?=x|y|1)', 'x\\-?|.', '[')),
  }),
  fc.record({
    ...shared,
    type: mostly(fc.constantFrom('int', 'integer', 'number')),
    default: optional(
      mostly(fc.oneof(fc.integer({ min: 0, max: 10 }), fc.double({ noNaN: true, noDefaultInfinity: true }))),
    ),
    minimum: optional(mostly(fc.integer({ min: -5, max: 3 }))),
    exclusive_minimum: optional(mostly(fc.integer({ min: -5, max: 3 }))),
    maximum: optional(mostly(fc.integer({ min: 3, max: 20 }))),
    exclusive_maximum: optional(mostly(fc.integer({ min: 3, max: 20 }))),
    multiple_of: optional(mostly(fc.constantFrom(0, 0.1, 1, 2))),
  }),
  fc.record({
    ...shared,
    type: mostly(fc.constantFrom('bool', 'object', 'array', 'nil')),
    default: optional(mostly(fc.constantFrom(true, 'no'))),
  }),
)

const schema = fc.record({
  type: fc.constant('object'),
  properties: fc.dictionary(
    name,
    fc.constantFrom({}, { type: 'string', updatable: true }, { type: 'integer', default: 1 }),
  ),
  required: fc.uniqueArray(name, { minLength: 1 }),
})
const parameters = fc.oneof(
  { weight: 9, arbitrary: fc.uniqueArray(parameter, { maxLength: 4, selector: item => JSON.stringify(item.name) }) },
  { weight: 1, arbitrary: schema },
)

const plan = fc.record({
  name: mostly(name),
  description: optional(mostly(fc.string())),
  free: optional(mostly(flag)),
  bindable: optional(mostly(flag)),
  metadata: optional(fc.dictionary(fc.constantFrom('displayName', 'schemas', 'cost'), junk)),
  parameters: optional(parameters),
  bind_parameters: optional(parameters),
  updates_to: rarely(fc.array(name, { maxLength: 1 })),
})

const spec = fc.record({
  version: fc.constantFrom(1, '1.0', '1.0.0'),
  name: mostly(fc.stringMatching(/^[a-z][a-z0-9._/-]{0,60}$/)),
  description: mostly(fc.constant('A bundle')),
  bindable: optional(mostly(flag)),
  tags: optional(mostly(fc.array(fc.constantFrom('t', 5)))),
  metadata: optional(fc.dictionary(fc.string(), junk)),
  bundleVersion: optional(mostly(fc.constantFrom('1.0.0', '0.1.2-rc.1'))),
  timeouts: optional(mostly(fc.record({ provision: fc.constantFrom('1ms', '90s', '30d') }))),
  plans: mostly(fc.uniqueArray(plan, { minLength: 1, maxLength: 3, selector: item => JSON.stringify(item.name) })),
})

describe('any spec', () => {
  it('that has no error becomes an offering that the catalog takes, with defaults that fit', async () => {
    let sound = 0
    await fc.assert(
      fc.asyncProperty(spec, async source => {
        const parsed = parseBundleSpec(source, 'bundle.yml')
        expect(parsed.spec === undefined).toBe(parsed.problems.some(isError))
        if (parsed.spec === undefined) return
        sound++
        const offering = toOffering(parsed.spec, { registry: 'r' })
        expect((await checkCatalog([offering])).problems.map(formatProblem)).toEqual([])
        for (const { schemas } of offering.plans) {
          const create = schemas?.serviceInstance?.create?.parameters
          const update = schemas?.serviceInstance?.update?.parameters
          const errors = create === undefined ? [] : (await compileSchema(create))({})
          expect(errors.filter(({ instancePath }) => instancePath !== '')).toEqual([])
          const untouched = {}
          if (update !== undefined) (await compileSchema(update))(untouched)
          expect(untouched).toEqual({})
        }
        expect((await checkBundle(source, { where: 'bundle.yml', registry: 'r' })).bundle?.offering).toEqual(offering)
      }),
      { numRuns: 300 },
    )
    expect(sound).toBeGreaterThan(30)
  })

  it('means the same as YAML and as a value', () => {
    fc.assert(
      fc.property(spec, source => {
        // Refused both ways, but a text is refused as a whole.
        fc.pre(!JSON.stringify(source).includes('__proto__'))
        const value = parseBundleSpec(source, 'bundle.yml')
        const text = parseBundleSpec(stringify(source, { aliasDuplicateObjects: false }), 'bundle.yml')
        expect(text.spec).toEqual(value.spec)
        const told = ({ problems }: ParsedSpec) =>
          problems.map(problem => formatMistake({ ...problem, place: undefined }))
        expect(told(text).sort()).toEqual(told(value).sort())
        for (const { place } of text.problems) expect(place?.line).toBeGreaterThan(0)
      }),
    )
  })
})

describe('JSON', () => {
  // With a space behind it, it is read as YAML.
  const told = (text: string) => {
    const { spec, problems } = parseBundleSpec(text, 'bundle.json')
    return { spec, problems: problems.map(formatMistake).sort() }
  }

  it('means the same whichever reader takes it', () => {
    fc.assert(
      fc.property(fc.oneof(spec, fc.jsonValue()), source => {
        const text = JSON.stringify(source)
        expect(told(text)).toEqual(told(`${text} `))
      }),
      { numRuns: 300 },
    )
  })

  it.each([
    ['a number that is not written as it is', '{"name":"a","bundleVersion":1.10}'],
    ['a key that is given twice', '{"name":"a","name":"b"}'],
    ['a key that would set a prototype', '{"name":"a","__proto__":{}}'],
    ['too many levels', `{"name":${'['.repeat(2_000)}${']'.repeat(2_000)}}`],
    ['too many values', `[${Array.from({ length: 100_001 }, () => 1).join(',')}]`],
    ['numbers as keys', '{"b":1,"2":1,"1":1}'],
  ])('is read as YAML where it is more than that: %s', (_, text) => {
    expect(told(text)).toEqual(told(`${text} `))
  })
})

describe('anything else', () => {
  it('gets problems, and throws nothing', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.anything(), fc.string(), fc.json(), fc.string({ unit: 'grapheme', maxLength: 200 })),
        source => {
          const { spec: read, problems } = parseBundleSpec(source, 'x')
          expect(read).toBeUndefined()
          expect(problems.length).toBeGreaterThan(0)
          for (const { problem } of problems) expect(problem.length).toBeLessThan(1000)
        },
      ),
      { numRuns: 500 },
    )
  })

  it('of the letters that YAML is made of too', () => {
    const letters = fc.constantFrom(...'[]{}:,-?&*!|>#"\'%@ \n\ta1<~'.split(''))
    fc.assert(
      fc.property(fc.string({ unit: letters, maxLength: 60 }), text => {
        expect(parseBundleSpec(text, 'x').problems.length).toBeGreaterThan(0)
      }),
      { numRuns: 1000 },
    )
  })
})
