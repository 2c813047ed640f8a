import { describe, expect, it } from 'vitest'
import type { Offering } from '../protocol/offering.ts'
import { readCatalog } from './load-yaml.ts'
import { CatalogError } from './problem.ts'

const noImages = async () => undefined

async function parse(
  text: string,
  readImage: (name: string) => Promise<Uint8Array | undefined> = noImages,
): Promise<readonly Offering[]> {
  return (await readCatalog(text, 'catalog.yaml', { readImage, env: {} })).offerings
}

/** The lines of the error that a text ends with, its headline excepted. */
async function problemsOf(text: string, readImage = noImages): Promise<string[]> {
  try {
    await parse(text, readImage)
  } catch (error) {
    if (error instanceof CatalogError)
      return error.message
        .split('\n')
        .slice(1)
        .map(line => line.trim())
    throw error
  }
  return []
}

const plans = '  plans: [{ id: p, name: plan, description: A plan }]'
const service = `- id: s
  name: service
  description: A service
  bindable: true
${plans}`
const catalog = `services:\n${service}\n`
const parsed: Offering = {
  id: 's',
  name: 'service',
  description: 'A service',
  bindable: true,
  plans: [{ id: 'p', name: 'plan', description: 'A plan' }],
}
const indent = (text: string, by: number) => text.replaceAll(/^(?=.)/gm, ' '.repeat(by))

describe('where a catalog stands', () => {
  it.each([
    ['bare', catalog],
    ['under catalog', `catalog:\n${indent(catalog, 2)}`],
    ['where Spring has it', `spring:\n  cloud:\n    openservicebroker:\n      catalog:\n${indent(catalog, 8)}`],
    ['under a dotted key', `spring.cloud.openservicebroker:\n  catalog:\n${indent(catalog, 4)}`],
    ['under a longer dotted key', `spring.cloud.openservicebroker.catalog:\n${indent(catalog, 2)}`],
    ['under the whole dotted key', `spring.cloud.openservicebroker.catalog.services:\n${service}\n`],
    ['under mixed keys', `spring:\n  cloud.open-service-broker:\n    catalog:\n${indent(catalog, 6)}`],
    [
      'among other content',
      `server: { port: 8080 }\nspring: { application: { name: x } }\nservices: { web: {} }\n1: 2\n? [a]\n: x\nspring.cloud.openservicebroker.catalog:\n${indent(catalog, 2)}`,
    ],
    ['in a later document', `spring:\n  application: { name: x }\n---\nother: 1\n---\n${catalog}---\nservices: []\n`],
    ['behind an alias', `base: &base\n${indent(catalog, 2)}catalog: *base\n`],
    ['as JSON', JSON.stringify({ services: [parsed] })],
    ['with Windows line ends and a byte order mark', `\uFEFF${catalog.replaceAll('\n', '\r\n')}`],
  ])('%s', async (_, text) => {
    expect(await parse(text)).toEqual([parsed])
  })

  it.each([
    '',
    '# nothing\n',
    'a: 1\n',
    'catalog: {}\n',
    'just text',
    '- id: s\n',
    'spring:\n  cloud:\n    openservicebroker: {}\n',
  ])('nowhere in %j', async text => {
    expect(await problemsOf(text)).toEqual([
      'catalog.yaml: it has no catalog; list the services under "services:" at the top level',
    ])
  })

  it('may be empty (CAT-08)', async () => {
    expect(await parse('services: []\n')).toEqual([])
  })

  it.each(['services:\n', 'services: x\n', 'services: { web: {} }\n'])('must be a list, unlike %j', async text => {
    expect(await problemsOf(text)).toEqual([
      expect.stringMatching(/^catalog\.yaml:\d+:\d+: "services" must be a list; /),
    ])
  })
})

describe('spelling', () => {
  const full: Offering = {
    ...parsed,
    instancesRetrievable: true,
    bindingsRetrievable: true,
    allowContextUpdates: true,
    planUpdateable: true,
    dashboardClient: { id: 'c', secret: 'x', redirectUri: 'https://example.com' },
    plans: [
      {
        id: 'p',
        name: 'plan',
        description: 'A plan',
        bindingRotatable: true,
        planUpdateable: false,
        maximumPollingDuration: 3600,
        maintenanceInfo: { version: '1.0.0' },
        schemas: {
          serviceInstance: {
            create: { parameters: { type: 'object', properties: { some_key: { type: 'string' }, 'other-key': {} } } },
            update: { parameters: { type: 'object' } },
          },
          serviceBinding: { create: { parameters: { additionalProperties: false } } },
        },
      },
    ],
  }
  const ours =
    /\b(instancesRetrievable|bindingsRetrievable|allowContextUpdates|planUpdateable|dashboardClient|redirectUri|bindingRotatable|maximumPollingDuration|maintenanceInfo|serviceInstance|serviceBinding)\b/g
  const respell = (spell: (key: string) => string) => JSON.stringify({ services: [full] }).replaceAll(ours, spell)

  it.each([
    ['camelCase', (key: string) => key],
    ['snake_case', (key: string) => key.replaceAll(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)],
    ['kebab-case', (key: string) => key.replaceAll(/[A-Z]/g, letter => `-${letter.toLowerCase()}`)],
    ['lower case', (key: string) => key.toLowerCase()],
  ])('%s', async (_, spell) => {
    expect(await parse(respell(spell))).toEqual([full])
  })

  it('refuses an unknown key at its place, and one given twice', async () => {
    expect(
      await problemsOf(`services:\n${service}\n  bindible: true\n  plan_updateable: true\n  plan-updateable: false\n`),
    ).toEqual([
      'catalog.yaml:7:3 (service "service"): "bindible" is not known here; did you mean bindable?',
      'catalog.yaml:9:3 (service "service"): "planUpdateable" is given twice, first in line 8; keep one',
    ])
  })

  it('takes a key without a value for absent', async () => {
    expect(await parse(`services:\n${service}\n  metadata:\n  tags:\n`)).toEqual([parsed])
  })
})

describe('metadata', () => {
  const metadataOf = async (text: string) =>
    (await parse(`services:\n${service}\n  metadata:\n${indent(text, 4)}\n`))[0]?.metadata

  it('keeps what the author wrote, and knows how Spring spells the customary keys', async () => {
    const text = [
      'display-name: D',
      'image-url: I',
      'long-description: L',
      'provider-display-name: P',
      'documentation-url: U',
      'support-url: S',
      'my-own-key: { inner-key: 1 }',
      'snake_key: 2',
    ].join('\n')
    expect(await metadataOf(text)).toEqual({
      displayName: 'D',
      imageUrl: 'I',
      longDescription: 'L',
      providerDisplayName: 'P',
      documentationUrl: 'U',
      supportUrl: 'S',
      'my-own-key': { 'inner-key': 1 },
      snake_key: 2,
    })
  })

  it('unfolds properties and additional-properties', async () => {
    expect(await metadataOf('a: 1\nproperties: { b: 2 }\nadditional-properties: { c-d: 3 }')).toEqual({
      a: 1,
      b: 2,
      'c-d': 3,
    })
  })

  it('keeps costs and bullets of a plan', async () => {
    const text = `services:
${service.replace(plans, '')}  plans:
  - id: p
    name: plan
    description: A plan
    free: false
    metadata:
      display-name: D
      bullets: [b]
      costs:
      - amount: { usd: 1.5 }
        unit: MONTHLY
`
    expect((await parse(text))[0]?.plans[0]).toMatchObject({
      free: false,
      metadata: { displayName: 'D', bullets: ['b'], costs: [{ amount: { usd: 1.5 }, unit: 'MONTHLY' }] },
    })
  })

  it('refuses a key named __proto__', async () => {
    await expect(metadataOf('__proto__: { polluted: 1 }')).rejects.toThrow(
      'catalog.yaml:8:5: a key must not be called __proto__',
    )
    expect(Reflect.get({}, 'polluted')).toBeUndefined()
  })

  it.each(['a: .nan', 'a: -.inf'])('refuses %s, which JSON cannot hold', async text => {
    expect(await problemsOf(`services:\n${service}\n  metadata: { ${text} }\n`)).toEqual([
      expect.stringMatching(/^catalog\.yaml:7:18: JSON cannot hold this value; /),
    ])
  })
})

describe('images', () => {
  const withImage = (line: string) => `services:\n${service}\n  metadata:\n    ${line}\n`
  const image = async (name: string) =>
    name === 'logo.png' || name === 'a/b.SVG' ? new Uint8Array([1, 2, 3]) : undefined

  it.each([
    ['image-url-resource: logo.png', 'data:image/png;base64,AQID'],
    ['imageUrlResource: classpath:logo.png', 'data:image/png;base64,AQID'],
    ['image_url_resource: a/b.SVG', 'data:image/svg+xml;base64,AQID'],
  ])('%s becomes a data URL', async (line, imageUrl) => {
    expect((await parse(withImage(line), image))[0]?.metadata).toEqual({ imageUrl })
  })

  it('gives way to an image-url', async () => {
    const [offering] = await parse(
      withImage('{ image-url: https://example.com/l.png, image-url-resource: missing.png }'),
      image,
    )
    expect(offering?.metadata).toEqual({ imageUrl: 'https://example.com/l.png' })
  })

  it.each([
    ['image-url-resource: missing.png', 'the image "missing.png" does not exist'],
    ['image-url-resource: logo.bmp', 'the image "logo.bmp" is of an unknown type'],
    ['image-url-resource: [logo.png]', 'the image resource must be a file name'],
  ])('%s is refused at its line', async (line, reason) => {
    expect(await problemsOf(withImage(line))).toEqual([
      expect.stringContaining(`catalog.yaml:8:5 (service "service"): ${reason}`),
    ])
  })

  it('says when one cannot be read', async () => {
    const denied = () => Promise.reject(Object.assign(new Error('denied'), { code: 'EACCES' }))
    expect(await problemsOf(withImage('image-url-resource: logo.png'), denied)).toEqual([
      expect.stringContaining('cannot be read (EACCES)'),
    ])
  })
})

describe('a Spring application', () => {
  const spring = (text: string) =>
    `spring:\n  cloud:\n    openservicebroker:\n      catalog:\n        services:\n${indent(text, 8)}\n`

  it('means not bindable where it does not say', async () => {
    expect(await parse(spring(service.replace('  bindable: true\n', '')))).toEqual([{ ...parsed, bindable: false }])
    expect(await problemsOf(catalog.replace('  bindable: true\n', ''))).toEqual([
      expect.stringContaining('"bindable" is missing'),
    ])
  })

  it('may have keys that are none of ours', async () => {
    expect(await parse(spring(`${service}\n  something-else: 1`))).toEqual([parsed])
  })

  it('puts special characters of keys into brackets', async () => {
    const text = `${service.replace(plans, '')}  plans:
  - id: p
    name: plan
    description: A plan
    schemas:
      serviceinstance:
        create:
          parameters[$schema]: "https://json-schema.org/draft-04/schema#"
          parameters: { type: object, "[properties]": { "[a.b]": { type: string } } }
        update:
          parameters: { "[$schema]": "http://json-schema.org/draft-07/schema#" }
      servicebinding:
        create:
          parameters[$schema]: "http://json-schema.org/draft-04/schema#"
`
    expect((await parse(spring(text)))[0]?.plans[0]?.schemas).toEqual({
      serviceInstance: {
        create: {
          parameters: {
            $schema: 'https://json-schema.org/draft-04/schema#',
            type: 'object',
            properties: { 'a.b': { type: 'string' } },
          },
        },
        update: { parameters: { $schema: 'http://json-schema.org/draft-07/schema#' } },
      },
      serviceBinding: { create: { parameters: { $schema: 'http://json-schema.org/draft-04/schema#' } } },
    })
  })
})

describe('bad text', () => {
  it.each([
    ['a tab for indentation', `services:\n\t- id: s\n`, 'catalog.yaml:2:1: not valid YAML: Tabs are not allowed'],
    [
      'a duplicate key',
      `services:\n${service}\n  name: again\n`,
      'catalog.yaml:7:3: the key "name" is given twice, first in line 3',
    ],
    ['an open bracket', 'services: [\n', 'catalog.yaml:2:1: not valid YAML: '],
    ['an open quote', 'services: "\n', 'catalog.yaml:2:1: not valid YAML: Missing closing "quote'],
    ['lists in lists', `services:\n${'- '.repeat(60_000)}x\n`, 'catalog.yaml:2:201: it is nested more than 100 levels'],
    ['an unknown alias', `services:\n- *nobody\n`, 'catalog.yaml:2:3: a * that is not in quotes names an alias'],
    ['an anchor in itself', 'services: &a\n- *a\n', 'catalog.yaml:2:3: the anchor &a contains an alias of itself'],
    ['a broken merge', `services:\n- <<: 3\n`, 'catalog.yaml:2:7: "<<" merges maps only'],
    [
      'a tag of somebody else',
      `services:\n- id: !env ID\n`,
      'catalog.yaml:2:3 (service "ID"): "id" has the tag "!env", which has no meaning here',
    ],
    ['a fault after the catalog', `${catalog}---\na: [\n`, 'not valid YAML: '],
  ])('%s', async (_, text, reason) => {
    const problems = await problemsOf(text)
    expect(problems.length).toBeGreaterThan(0)
    expect(problems[0]).toContain(reason)
  })

  it('a text that unfolds to gigabytes', async () => {
    const levels = Array.from({ length: 12 }, (_, level) => {
      const items = level === 0 ? Array(10).fill('x') : Array(10).fill(`*a${level - 1}`)
      return `a${level}: &a${level} [${items.join(', ')}]`
    })
    const text = `${levels.join('\n')}\n${catalog}  metadata: { bomb: *a11 }\n`
    expect(await problemsOf(text)).toEqual([expect.stringContaining('it unfolds to more than 200000 values')])
  })

  it('anchors and merges that a large catalog needs are fine', async () => {
    const many = Array.from({ length: 300 }, (_, index) => `  - { <<: *base, id: p${index}, name: n${index} }`)
    const [offering] = await parse(
      `base: &base { description: A plan }\nservices:\n${service.replace(plans, '')}  plans:\n${many.join('\n')}\n`,
    )
    expect(offering?.plans).toHaveLength(300)
    expect(offering?.plans[299]).toEqual({ id: 'p299', name: 'n299', description: 'A plan' })
  })

  it('foreign tags outside the catalog are none of our business', async () => {
    expect(await parse(`other: !env X\n${catalog}`)).toEqual([parsed])
  })

  it('names every wrong field at its line', async () => {
    const text = `services:
- id: 5
  name: service
  bindable: "yes"
  requires: [everything]
  plans:
  - id: p
    name: plan
    description: A plan
    free: 1
    maximum-polling-duration: 1h
    maintenance_info: { version: 1.0 }
    schemas: { service-instance: { create: { parameters: { type: strin } } } }
- nonsense
`
    const problems = await problemsOf(text)
    expect(problems.map(line => line.split(': ')[0])).toEqual([
      'catalog.yaml:2:3 (service "service")',
      'catalog.yaml:2:3 (service "service")',
      'catalog.yaml:4:3 (service "service")',
      'catalog.yaml:5:14 (service "service")',
      'catalog.yaml:10:5 (service "service" > plan "plan")',
      'catalog.yaml:11:5 (service "service" > plan "plan")',
      'catalog.yaml:12:25 (service "service" > plan "plan")',
      'catalog.yaml:13:46 (service "service" > plan "plan")',
      'catalog.yaml:14:3 (service number 2)',
    ])
    expect(problems[1]).toContain('"description" is missing')
  })

  it('never repeats the secret of a dashboard client', async () => {
    const text = `services:\n${service}\n  dashboard-client: { id: 4, secret: [hunter2], other: hunter2 }\n`
    expect((await problemsOf(text)).join()).not.toContain('hunter2')
    expect(await problemsOf(text)).toHaveLength(3)
  })
})
