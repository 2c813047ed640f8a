import { describe, expect, it } from 'vitest'
import { checkCatalog } from './check-catalog.ts'
import { CatalogError, formatProblem } from './problem.ts'

const plan = (more: object = {}) => ({ id: 'p', name: 'plan', description: 'A plan', ...more })
const offering = (more: object = {}) => ({
  id: 's',
  name: 'service',
  description: 'A service',
  bindable: true,
  plans: [plan()],
  ...more,
})
const withSchema = (parameters: unknown) =>
  offering({ plans: [plan({ schemas: { serviceInstance: { create: { parameters } } } })] })

async function problemsOf(...offerings: unknown[]): Promise<string[]> {
  return (await checkCatalog(offerings)).problems.map(formatProblem)
}

async function warningsOf(...offerings: unknown[]): Promise<string[]> {
  const { problems, warnings } = await checkCatalog(offerings)
  expect(problems).toEqual([])
  return warnings.map(formatProblem)
}

describe('checkCatalog', () => {
  it('finds nothing wrong with a full catalog', async () => {
    const full = offering({
      tags: ['a'],
      requires: ['syslog_drain', 'route_forwarding', 'volume_mount'],
      instancesRetrievable: true,
      bindingsRetrievable: false,
      allowContextUpdates: true,
      metadata: { displayName: 'S', nested: { list: [1, null, true] } },
      dashboardClient: { id: 'c', secret: 'x', redirectUri: 'https://example.com' },
      planUpdateable: true,
      plans: [
        plan({
          metadata: {},
          free: false,
          bindable: false,
          bindingRotatable: true,
          planUpdateable: false,
          maximumPollingDuration: 60,
          maintenanceInfo: { version: '1.2.3-rc.1+build.5', description: 'd' },
          schemas: {
            serviceInstance: { create: { parameters: { type: 'object' } }, update: {} },
            serviceBinding: {
              create: { parameters: { properties: { a: { $ref: '#/definitions/a' } }, definitions: { a: {} } } },
            },
          },
        }),
      ],
    })
    expect(await checkCatalog([full])).toEqual({ problems: [], warnings: [] })
    expect(await checkCatalog([])).toEqual({ problems: [], warnings: [] })
  })

  const notText = [1, true, null, [], {}]
  const notFlag = ['true', 1, null, [], {}]
  const notObject = ['x', 1, true, null, []]
  const wrongTypes: [string, (value: unknown) => unknown, unknown[]][] = [
    ...['id', 'name', 'description'].flatMap((field): [string, (value: unknown) => unknown, unknown[]][] => [
      [field, value => offering({ [field]: value }), [...notText, '', '  ']],
      [`plan ${field}`, value => offering({ plans: [plan({ [field]: value })] }), [...notText, '', '  ']],
    ]),
    ...['bindable', 'instancesRetrievable', 'bindingsRetrievable', 'allowContextUpdates', 'planUpdateable'].map(
      (field): [string, (value: unknown) => unknown, unknown[]] => [
        field,
        value => offering({ [field]: value }),
        notFlag,
      ],
    ),
    ...['free', 'bindable', 'bindingRotatable', 'planUpdateable'].map(
      (field): [string, (value: unknown) => unknown, unknown[]] => [
        `plan ${field}`,
        value => offering({ plans: [plan({ [field]: value })] }),
        notFlag,
      ],
    ),
    ['tags', value => offering({ tags: value }), ['x', {}, null, [1], [''], [null]]],
    ['requires', value => offering({ requires: value }), ['syslog_drain', {}, null, ['other'], [1], ['Syslog_Drain']]],
    [
      'metadata',
      value => offering({ metadata: value }),
      [...notObject, { a: Number.NaN }, { a: () => 1 }, { a: new Date(0) }, { a: 1n }],
    ],
    [
      'plan metadata',
      value => offering({ plans: [plan({ metadata: value })] }),
      [...notObject, { a: [Number.POSITIVE_INFINITY] }],
    ],
    [
      'dashboardClient',
      value => offering({ dashboardClient: value }),
      [
        ...notObject,
        { id: 'c' },
        { secret: 'x' },
        { id: '', secret: 'x' },
        { id: 'c', secret: 4 },
        { id: 'c', secret: 'x', redirectUri: 1 },
      ],
    ],
    ['plans', value => offering({ plans: value }), [undefined, null, [], {}, 'x', [null], ['x'], [[]]]],
    [
      'maximumPollingDuration',
      value => offering({ plans: [plan({ maximumPollingDuration: value })] }),
      [0, -1, 1.5, '60', null, Number.NaN, 2 ** 60],
    ],
    [
      'maintenanceInfo',
      value => offering({ plans: [plan({ maintenanceInfo: value })] }),
      [...notObject, {}, { version: 1 }],
    ],
    [
      'maintenanceInfo.version',
      value => offering({ plans: [plan({ maintenanceInfo: { version: value } })] }),
      ['', '1', '1.2', 'v1.2.3', '01.2.3', '1.2.3-', '1.2.3-01', '1.2.3+', '1.2.3.4', ' 1.2.3'],
    ],
    [
      'maintenanceInfo.description',
      value => offering({ plans: [plan({ maintenanceInfo: { version: '1.0.0', description: value } })] }),
      notText,
    ],
    [
      'schemas',
      value => offering({ plans: [plan({ schemas: value })] }),
      [
        ...notObject,
        { serviceInstance: 1 },
        { serviceInstance: { create: 'x' } },
        { serviceBinding: { create: [] } },
        { serviceBinding: null },
      ],
    ],
    ['a schema', withSchema, notObject],
  ]

  it.each(wrongTypes)('refuses a wrong %s', async (_, make, values) => {
    for (const value of values) {
      const problems = await problemsOf(make(value))
      expect(problems, JSON.stringify(String(value))).toHaveLength(1)
      expect(problems[0]).toMatch(/^service .*: .+; .+/)
    }
  })

  it.each(['id', 'name', 'description', 'bindable'])('demands %s of a service', async field => {
    expect(await problemsOf(offering({ [field]: undefined }))).toEqual([
      expect.stringContaining(`: "${field}" is missing; add "${field}"`),
    ])
  })

  it.each([null, 'x', 1, []])('refuses %j for a service', async value => {
    expect(await problemsOf(value)).toEqual([expect.stringContaining('service number 1: a service must be a map')])
  })

  it('names the service and the plan', async () => {
    const plans = [
      plan(),
      plan({ id: 'q', name: 'other', free: 'no' }),
      { id: 'r', description: 'd' },
      { description: 'd' },
    ]
    expect((await problemsOf(offering({ plans }))).map(line => line.split(':')[0])).toEqual([
      'service "service" > plan "other"',
      'service "service" > plan "r"',
      'service "service" > plan number 4',
      'service "service" > plan number 4',
    ])
  })

  it('says where it stands in the source', async () => {
    const { problems } = await checkCatalog([offering({ plans: [plan({ free: 1 })] })], path => ({
      source: 'f.yaml',
      line: path.length,
      column: 1,
    }))
    expect(problems.map(formatProblem)).toEqual([
      expect.stringMatching(/^f\.yaml:4:1 \(service "service" > plan "plan"\): "free" must be/),
    ])
  })

  it('never repeats a secret', async () => {
    const client = { id: 5, secret: ['hunter2'], redirectUri: { hunter2: 'hunter2' } }
    expect((await problemsOf(offering({ dashboardClient: client }))).join()).not.toContain('hunter2')
  })

  it('refuses an object that contains itself', async () => {
    const metadata: Record<string, unknown> = {}
    metadata.self = metadata
    expect(await problemsOf(offering({ metadata }))).toHaveLength(1)
    expect(await problemsOf(withSchema({ properties: metadata }))).toHaveLength(1)
  })
})

describe('what must be unique', () => {
  const second = (more: object) => offering({ id: 's2', name: 'second', plans: [plan({ id: 'p2' })], ...more })

  it.each([
    ['service ids', second({ id: 's' }), 'the service id "s" is already used by service "service"'],
    [
      'service names (CAT-10)',
      second({ name: 'service' }),
      'the service name "service" is already used by service "service"',
    ],
    [
      'plan ids anywhere (CAT-30)',
      second({ plans: [plan()] }),
      'the plan id "p" is already used by service "service" > plan "plan"',
    ],
    [
      'plan names of a service (CAT-31)',
      second({ plans: [plan({ id: 'p2' }), plan({ id: 'p3' })] }),
      'the plan name "plan" is already used by service "second" > plan "plan"',
    ],
  ])('%s', async (_, other, reason) => {
    expect(await problemsOf(offering(), other)).toEqual([expect.stringContaining(reason)])
  })

  it('dashboard client ids', async () => {
    const dashboardClient = { id: 'c', secret: 'x', redirectUri: 'u' }
    expect(await problemsOf(offering({ dashboardClient }), second({ dashboardClient }))).toEqual([
      expect.stringContaining('the dashboard client id "c" is already used by service "service"'),
    ])
  })

  it('CAT-13 names that differ in case are different, and plans of two services may share a name', async () => {
    expect(await problemsOf(offering(), second({ name: 'Service' }))).toEqual([])
  })
})

describe('schemas', () => {
  it.each([
    [
      'SCH-04 a remote reference',
      { properties: { a: { $ref: 'https://example.com/schema.json' } } },
      'refers to "https://example.com/schema.json"',
    ],
    [
      'SCH-04 a reference to a file',
      { allOf: [{ $ref: 'other.json#/definitions/a' }] },
      'refers to "other.json#/definitions/a"',
    ],
    ['a reference to nothing', { $ref: '#/definitions/a' }, "can't resolve reference"],
    ['SCH-05 more than 64 kB', { description: 'x'.repeat(65 * 1024) }, 'bytes'],
    ['an unknown type', { type: 'strin' }, 'not a valid JSON Schema'],
    ['a wrong keyword', { type: 'object', properties: [] }, 'not a valid JSON Schema'],
    ['a broken pattern', { properties: { a: { pattern: '(' } } }, 'not a valid JSON Schema'],
    ['a look-around', { properties: { a: { pattern: '^(?!b)' } } }, 'its pattern "^(?!b)" has a look-around'],
    ['draft-03 words', { properties: { a: { required: true } } }, 'not a valid JSON Schema'],
    ['an unknown draft', { $schema: 'http://example.com/draft' }, 'names none of the known drafts'],
    [
      'words that its draft does not have',
      { $schema: 'http://json-schema.org/draft-04/schema#', exclusiveMinimum: 3 },
      'not a valid JSON Schema',
    ],
    ['NaN', { minimum: Number.NaN }, 'must be a map that JSON can hold'],
  ])('refuses %s', async (_, schema, reason) => {
    expect(await problemsOf(withSchema(schema))).toEqual([expect.stringContaining(reason)])
  })

  it.each([
    'http://json-schema.org/draft-04/schema#',
    'http://json-schema.org/draft-06/schema#',
    'http://json-schema.org/draft-07/schema#',
    'https://json-schema.org/draft/2019-09/schema',
    'https://json-schema.org/draft/2020-12/schema',
  ])('takes %s', async $schema => {
    expect(await problemsOf(withSchema({ $schema, type: 'object', required: ['a'] }))).toEqual([])
  })

  it('takes two schemas of one id, and a pattern that exists only outside Unicode mode', async () => {
    const schema = () => ({
      $id: 'https://example.com/s',
      properties: { a: { $id: 'https://example.com/t', pattern: '^a\\-b$' } },
    })
    const create = { parameters: schema() }
    const plans = [plan({ schemas: { serviceInstance: { create, update: { parameters: schema() } } } })]
    expect(await problemsOf(offering({ plans }))).toEqual([])
  })

  it('checks all three places', async () => {
    const bad = { parameters: { type: 1 } }
    const plans = [
      plan({ schemas: { serviceInstance: { create: bad, update: bad }, serviceBinding: { create: bad } } }),
    ]
    expect(await problemsOf(offering({ plans }))).toEqual([
      expect.stringContaining('schemas.serviceInstance.create'),
      expect.stringContaining('schemas.serviceInstance.update'),
      expect.stringContaining('schemas.serviceBinding.create'),
    ])
  })
})

describe('warnings', () => {
  it('a pattern, or the pattern of a name, is one that only Go knows', async () => {
    const schema = { properties: { a: { pattern: '(?i)b' } }, patternProperties: { '\\Ax': { type: 'string' } } }
    expect(await warningsOf(withSchema(schema))).toEqual([
      expect.stringContaining('an escape such as \\A or \\z in the pattern "\\\\Ax"'),
      expect.stringContaining('a flag such as (?i) in the pattern "(?i)b"'),
    ])
  })

  it.each(['my service', 'ä', 'a_b', '-', '..', 'a/b'])(
    'the name %j is not CLI-friendly (CAT-12, CAT-14)',
    async name => {
      expect(await warningsOf(offering({ name }))).toEqual([expect.stringContaining('hard to type')])
      expect(await warningsOf(offering({ plans: [plan({ name })] }))).toEqual([expect.stringContaining('hard to type')])
    },
  )

  it.each(['a', 'A.b-3', '9'])('the name %j is', async name => {
    expect(await warningsOf(offering({ name }))).toEqual([])
  })

  it('CAT-06 more than 255 characters, images and schemas excepted', async () => {
    const long = 'x'.repeat(256)
    const schemas = { serviceInstance: { create: { parameters: { description: long } } } }
    expect(
      await warningsOf(
        offering({ description: 'x'.repeat(255), metadata: { imageUrl: long }, plans: [plan({ schemas })] }),
      ),
    ).toEqual([])
    expect(
      await warningsOf(offering({ metadata: { a: [{ b: long }] }, plans: [plan({ description: long })] })),
    ).toEqual([
      expect.stringContaining('service "service" > plan "plan": "description" has 256 characters'),
      expect.stringContaining('"b" has 256 characters'),
    ])
  })

  it('what Cloud Foundry refuses', async () => {
    expect(await warningsOf(withSchema({ const: {} }))).toEqual([expect.stringContaining('is not draft-04')])
    expect(await warningsOf(offering({ dashboardClient: { id: 'c', secret: 'x' } }))).toEqual([
      expect.stringContaining('no redirectUri'),
    ])
  })

  it('a schema that no parameters can fit', async () => {
    expect(await warningsOf(withSchema({ type: 'string' }))).toEqual([expect.stringContaining('accepts no object')])
    expect(await warningsOf(withSchema({ type: ['object', 'null'] }))).toEqual([])
  })
})

describe('CatalogError', () => {
  it('lists every problem with its place and remedy', async () => {
    const { problems } = await checkCatalog([offering({ bindable: 'yes', plans: [] })])
    expect(new CatalogError(problems).message).toBe(
      'the catalog has 2 problems:\n' +
        '  service "service": "bindable" must be true or false, but is "yes"; write it without quotes\n' +
        '  service "service": it has no plans; give it at least one, with id, name and description',
    )
  })
})

it('refuses a key of a plan in code that nobody knows, and says which one was meant', async () => {
  expect(
    await problemsOf(offering({ plans: [plan({ planUpdatable: true, schemas: { serviceinstance: {} } })] })),
  ).toEqual([
    'service "service" > plan "plan": "planUpdatable" is not known here; did you mean planUpdateable?',
    'service "service" > plan "plan": "schemas.serviceinstance" is not known here; did you mean serviceInstance?',
  ])
})
