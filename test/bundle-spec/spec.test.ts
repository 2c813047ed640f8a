import { describe, expect, it } from 'vitest'
import { parseBundleSpec } from '../../src/bundle/spec.ts'
import { showPath } from '../../src/shape/place.ts'
import { parse, parseParameters, problemsOf, specWith } from './specs.ts'

const text = `version: 1.0
name: wiki-apb
description: A wiki
bindable: yes
async: optional
tags: [wiki, 5]
metadata:
  displayName: Wiki
  dependencies: ["registry.example.com/wiki:1"]
alpha:
  dashboard_redirect: true
  other_gate: {a: 1}
bundle_version: "1.2.0"
entrypoint: bin/run.sh
timeouts:
  provision: 10m
  bind: 90s
resources:
  memory: 256Mi
  cpu: 500m
  provision:
    memory: 1Gi
    output: 2M
_p: &_p
  - name: size
    title: Size
    type: enum
    enum: [Yes, No, "9.6"]
    default: Yes
    required: true
    updatable: true
    display_type: select
    display_group: Storage
  - name: password
    type: string
    display_type: password
    min_length: 8
    maxlength: 10
    max_length: 20
    pattern: "^[a-z]+$"
plans:
  - name: dev
    description: For trying
    free: true
    parameters: *_p
    updates_to: [prod]
  - &prod
    name: prod
    description: For use
    free: false
    bindable: false
    metadata: {cost: $5.99 monthly}
    parameters: *_p
    bind_parameters:
      - {name: role, type: string}
`

describe('parseBundleSpec', () => {
  it('reads a spec in the format of the Automation Broker, with what goes beyond it', () => {
    expect(problemsOf(text)).toEqual([])
    const spec = parse(text)
    const size = {
      name: 'size',
      title: 'Size',
      type: 'string',
      enum: ['Yes', 'No', '9.6'],
      default: 'Yes',
      required: true,
      updatable: true,
      sensitive: false,
      displayType: 'select',
      displayGroup: 'Storage',
    }
    const password = {
      name: 'password',
      type: 'string',
      required: false,
      updatable: false,
      sensitive: true,
      displayType: 'password',
      minLength: 8,
      maxLength: 20,
      pattern: '^[a-z]+$',
    }
    const parameters = { kind: 'list', list: [size, password] }
    expect(spec).toEqual({
      name: 'wiki-apb',
      description: 'A wiki',
      bindable: true,
      async: 'optional',
      tags: ['wiki', '5'],
      metadata: { displayName: 'Wiki', dependencies: ['registry.example.com/wiki:1'] },
      alpha: { other_gate: { a: 1 }, dashboardRedirect: true },
      bundleVersion: '1.2.0',
      entrypoint: 'bin/run.sh',
      bindings: {},
      timeouts: { provision: 600_000, bind: 90_000 },
      resources: {
        provision: { memory: 2 ** 30, cpu: 0.5, output: 2_000_000 },
        update: { memory: 2 ** 28, cpu: 0.5 },
        deprovision: { memory: 2 ** 28, cpu: 0.5 },
        bind: { memory: 2 ** 28, cpu: 0.5 },
        unbind: { memory: 2 ** 28, cpu: 0.5 },
      },
      plans: [
        {
          name: 'dev',
          description: 'For trying',
          free: true,
          metadata: {},
          parameters,
          bindParameters: { kind: 'list', list: [] },
          updatesTo: ['prod'],
        },
        {
          name: 'prod',
          description: 'For use',
          free: false,
          bindable: false,
          metadata: { cost: '$5.99 monthly' },
          parameters,
          bindParameters: {
            kind: 'list',
            list: [{ name: 'role', type: 'string', required: false, updatable: false, sensitive: false }],
          },
          updatesTo: [],
        },
      ],
    })
  })

  it('reads the same from JSON in camelCase', () => {
    const spelled = {
      version: '1.0.0',
      bundleVersion: '1.0.0',
      plans: [
        { name: 'a', description: 'A', updatesTo: ['b'], bindParameters: [] },
        { name: 'b', description: 'B' },
      ],
    }
    const parameter = { name: 'n', type: 'Integer', multipleOf: 2, exclusiveMaximum: 10, displayGroup: 'G' }
    expect(parse(specWith(spelled)).plans[0]?.updatesTo).toEqual(['b'])
    expect(parseParameters([parameter])).toMatchObject({
      list: [{ type: 'integer', multipleOf: 2, displayGroup: 'G' }],
    })
    expect(parse(JSON.stringify(specWith(spelled))).bundleVersion).toBe('1.0.0')
  })

  it.each([
    ['string', 'string'],
    ['ENUM', 'string'],
    ['int', 'integer'],
    ['integer', 'integer'],
    ['number', 'number'],
    ['bool', 'boolean'],
    ['Boolean', 'boolean'],
    ['object', 'object'],
    ['array', 'array'],
    ['nil', 'null'],
    ['null', 'null'],
  ])('knows the type %s', (written, type) => {
    expect(parseParameters([{ name: 'p', type: written }])).toMatchObject({ list: [{ type }] })
  })

  it('merges what "<<" brings in, under the keys that are there', () => {
    const merged = `version: 1.0
name: m
description: M
_base: &base {name: base, description: Base, free: false}
plans:
  - <<: *base
    name: own
  - name: both
    <<: [{description: First}, *base]
`
    expect(problemsOf(merged)).toEqual([])
    expect(parse(merged).plans).toMatchObject([
      { name: 'own', description: 'Base', free: false },
      { name: 'both', description: 'First', free: false },
    ])
  })

  it('takes a value that YAML understood otherwise for what it can only mean, and says so', () => {
    const source = `version: 1.0
name: v
description: V
plans:
  - name: a
    description: A
    parameters:
      - {name: release, type: enum, enum: [9.60, 10], default: 9.60}
      - {name: count, type: int, default: "5"}
      - {name: on, type: boolean, default: yes}
`
    const [plan] = parse(source).plans
    expect(plan?.parameters).toMatchObject({
      list: [{ enum: ['9.60', '10'], default: '9.60' }, { default: 5 }, { default: true }],
    })
    expect(problemsOf(source)).toEqual([
      'bundle.yml:8: plans[0].parameters[0].enum[0]: warning: it is taken as the string "9.60"; write it in quotes',
      'bundle.yml:8: plans[0].parameters[0].enum[1]: warning: it is taken as the string "10"; write it in quotes',
      'bundle.yml:8: plans[0].parameters[0].default: warning: the default of the parameter "release" is taken as a string; write it in quotes',
      'bundle.yml:9: plans[0].parameters[1].default: warning: the default of the parameter "count" is taken as an integer; write it without quotes',
      'bundle.yml:10: plans[0].parameters[2].default: warning: the default of the parameter "on" is taken as a boolean; write it without quotes',
    ])
  })

  it('warns of what has no effect, and serves the bundle all the same', () => {
    const source = specWith(
      { image: 'x', id: 'y', flavour: 'z', _scratch: 1, 'x-own': 2, name: 'My Name', async: 'sometimes' },
      {
        description: '',
        maintenance: {},
        parameters: [
          { name: 'namespace', type: 'string', minimum: 1, sensitive: true, default: 'x', display_type: 'radio' },
          { name: 'n', type: 'int', pattern: 'a', max_length: 4, type_: 'x' },
          { name: 'e', type: 'enum' },
        ],
      },
    )
    const { spec, problems } = parseBundleSpec(source, 'bundle.yml')
    expect(spec).toBeDefined()
    expect(problems.map(({ severity, path }) => `${severity} ${showPath(path)}`).sort()).toEqual([
      'warning async',
      'warning flavour',
      'warning id',
      'warning image',
      'warning name',
      'warning plans[0].description',
      'warning plans[0].maintenance',
      'warning plans[0].parameters[0].default',
      'warning plans[0].parameters[0].display_type',
      'warning plans[0].parameters[0].minimum',
      'warning plans[0].parameters[0].name',
      'warning plans[0].parameters[1].max_length',
      'warning plans[0].parameters[1].pattern',
      'warning plans[0].parameters[1].type_',
      'warning plans[0].parameters[2]',
    ])
  })

  it('takes zero and nothing for no rule, as the format does', () => {
    const rules = { max_length: 0, min_length: 0, multiple_of: 0, pattern: '', default: null, enum: null }
    expect(parseParameters([{ name: 'p', type: 'string', ...rules, multiple_of: null }])).toEqual({
      kind: 'list',
      list: [{ name: 'p', type: 'string', required: false, updatable: false, sensitive: false }],
    })
    expect(parseParameters([{ name: 'p', type: 'int', multiple_of: 0, minimum: 0 }])).toMatchObject({
      list: [{ minimum: 0 }],
    })
  })
})
