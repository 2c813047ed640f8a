import { describe, expect, it } from 'vitest'
import { readCatalog } from '../load-yaml.ts'
import { formatProblem } from '../problem.ts'

type Env = Readonly<Record<string, string>>

async function load(text: string, { env = {}, file = 'application.yaml' }: { env?: Env; file?: string } = {}) {
  const { offerings, warnings } = await readCatalog(text, file, { readImage: async () => undefined, env })
  return { offerings, warnings: warnings.map(formatProblem) }
}

const namesOf = async (text: string, env: Env = {}, file?: string) =>
  (await load(text, { env, file })).offerings.map(({ name }) => name)

const flatKey = (key: string, by: string, value: string) =>
  `spring.cloud.openservicebroker.catalog.services[0].${key}${by}${value}\n`

/** One service of this name, in the flat form that both kinds of files have. */
const flat = (name: string, by = ': ') =>
  Object.entries({
    id: `${name}-id`,
    name,
    description: 'd',
    'plans[0].id': `${name}-plan`,
    'plans[0].name': 'plan',
    'plans[0].description': 'p',
  })
    .map(([key, value]) => flatKey(key, by, value))
    .join('')

describe('several documents', () => {
  const file = `${flat('base')}---
spring:
  config:
    activate:
      on-profile: cloud & !eu
${flat('cloud')}---
spring.profiles: eu, asia
${flat('old')}---
spring.config.activate.on-profile: [one, two]
${flat('listed')}`

  it.each([
    [{}, 'base'],
    [{ SPRING_PROFILES_ACTIVE: 'cloud' }, 'cloud'],
    [{ SPRING_PROFILES_ACTIVE: 'cloud,eu' }, 'old'],
    [{ SPRING_PROFILES_ACTIVE: 'asia' }, 'old'],
    [{ SPRING_PROFILES_ACTIVE: 'two , cloud' }, 'listed'],
    [{ SPRING_PROFILES_ACTIVE: '', SPRING_PROFILES_INCLUDE: 'cloud' }, 'cloud'],
    [{ SPRING_PROFILES_ACTIVE: 'unknown' }, 'base'],
  ])('with %j, the last one that counts has the catalog: %s', async (env, expected) => {
    expect(await namesOf(file, env)).toEqual([expected])
  })

  it('may be separated in .properties, too', async () => {
    const text = `${flat('base', '=')}#---\nspring.config.activate.on-profile=cloud\n${flat('cloud', '=')}`
    expect(await namesOf(text, {}, 'application.properties')).toEqual(['base'])
    expect(await namesOf(text, { SPRING_PROFILES_ACTIVE: 'cloud' }, 'application.properties')).toEqual(['cloud'])
  })

  it.each([
    ['names them', 'spring.profiles.active: cloud\n'],
    ['lists them', 'spring: { profiles: { active: [other, cloud] } }\n'],
    ['has a default', `spring.profiles.active: \${STAGE:cloud}\n`],
    ['includes one', 'spring.profiles.include: cloud\n'],
    ['has a group', 'spring:\n  profiles:\n    active: prod\n    group: { prod: "more, other", more: cloud }\n'],
  ])('the file %s', async (_, head) => {
    expect(await namesOf(`${head}---\n${file}`)).toEqual(['cloud'])
  })

  it('the environment goes over what the file says', async () => {
    const text = `spring.profiles.active: cloud\n---\n${file}`
    expect(await namesOf(text, { SPRING_PROFILES_ACTIVE: 'eu' })).toEqual(['old'])
  })

  it('a document for a cloud platform counts there only', async () => {
    const text = `${flat('base')}---\nspring.config.activate.on-cloud-platform: kubernetes\n${flat('kube')}`
    expect(await namesOf(text)).toEqual(['base'])
    expect(await namesOf(text, { KUBERNETES_SERVICE_HOST: '10.0.0.1' })).toEqual(['kube'])
    const cf = text.replace('kubernetes', 'cloud-foundry')
    expect(await namesOf(cf, { VCAP_APPLICATION: '{}' })).toEqual(['kube'])
  })

  it('says which profiles have a catalog, where the active ones have none', async () => {
    await expect(load(file.replace(flat('base'), 'a: 1\n'))).rejects.toThrow(
      'application.yaml: it has no catalog for the active profiles (default); set SPRING_PROFILES_ACTIVE; it has one for: cloud & !eu; eu, asia; one, two',
    )
  })
})

describe('flat keys', () => {
  it('are the same as nested ones, with numbers and flags in them', async () => {
    const text = `
spring.cloud.openservicebroker.catalog.services[0].id=s
spring.cloud.openservicebroker.catalog.services[0].name=123
spring.cloud.openservicebroker.catalog.services[0].description=A service
spring.cloud.openservicebroker.catalog.services[0].bindable=true
spring.cloud.openservicebroker.catalog.services[0].plan_updateable=on
spring.cloud.openservicebroker.catalog.services[0].tags[1]=b
spring.cloud.openservicebroker.catalog.services[0].tags[0]=a
spring.cloud.openservicebroker.catalog.services[0].metadata.display-name=1.10
spring.cloud.openservicebroker.catalog.services[0].metadata.properties[key.1]=true
spring.cloud.openservicebroker.catalog.services[0].metadata.properties.licenses[0]=MIT
spring.cloud.openservicebroker.catalog.services[0].dashboard-client.id=c
spring.cloud.openservicebroker.catalog.services[0].dashboardClient.secret=x
spring.cloud.openservicebroker.catalog.services[0].plans[0].id=p
spring.cloud.openservicebroker.catalog.services[0].plans[0].name=plan
spring.cloud.openservicebroker.catalog.services[0].plans[0].description=A plan
spring.cloud.openservicebroker.catalog.services[0].plans[0].maximum-polling-duration=120
spring.cloud.openservicebroker.catalog.services[0].plans[0].metadata.costs[0].amount[usd]=649.5
spring.cloud.openservicebroker.catalog.services[0].plans[0].schemas.serviceinstance.create.parameters[$schema]=http://json-schema.org/draft-04/schema#
spring.cloud.openservicebroker.catalog.services[0].plans[0].schemas.serviceinstance.create.parameters.type=object
spring.cloud.openservicebroker.catalog.services[0].plans[0].schemas.serviceinstance.create.parameters.properties.size.minimum=1
server.port=9000
`
    const expected = [
      {
        id: 's',
        name: '123',
        description: 'A service',
        bindable: true,
        planUpdateable: true,
        tags: ['a', 'b'],
        metadata: { displayName: '1.10', 'key.1': 'true', licenses: ['MIT'] },
        dashboardClient: { id: 'c', secret: 'x' },
        plans: [
          {
            id: 'p',
            name: 'plan',
            description: 'A plan',
            maximumPollingDuration: 120,
            metadata: { costs: [{ amount: { usd: 649.5 } }] },
            schemas: {
              serviceInstance: {
                create: {
                  parameters: {
                    $schema: 'http://json-schema.org/draft-04/schema#',
                    type: 'object',
                    properties: { size: { minimum: 1 } },
                  },
                },
              },
            },
          },
        ],
      },
    ]
    expect((await load(text, { file: 'application.properties' })).offerings).toEqual(expected)
  })

  it('a mistake has its line', async () => {
    const text = flat('s', '=')
      .replace(/.*plans\[0\]\.name.*\n/, '')
      .replace('d\n', 'd\n# comment\n')
    await expect(load(text, { file: 'a.properties' })).rejects.toThrow(
      /a\.properties:5:1 \(service "s" > plan "s-plan"\): "name" is missing/,
    )
  })

  it('stand beside nested ones', async () => {
    const text = `spring.cloud.openservicebroker.catalog:
  services:
  - id: s
    name: service
    description: d
    plans[0]: { id: p, name: plan, description: d }
    plans[0].free: no
    metadata: { a.b: 1, a_b: 2, a-b: 3 }
`
    const [offering] = (await load(text)).offerings
    expect(offering).toMatchObject({ metadata: { 'a.b': 1, a_b: 2, 'a-b': 3 }, plans: [{ id: 'p', free: false }] })
  })
})

describe('lists in one text', () => {
  const expected = { tags: ['a', 'b', 'c'], requires: ['syslog_drain'], plans: [{ metadata: { bullets: ['x', 'y'] } }] }
  const keys = { tags: 'a,b , c', requires: 'syslog_drain', 'plans[0].metadata.bullets': 'x,y', 'plans[0].free': '' }

  it.each([
    ['application.properties', '='],
    ['application.yaml', ': '],
  ])('%s: they are split at commas, and an empty flag is as good as absent', async (file, by) => {
    const more = Object.entries(keys).map(([key, value]) =>
      flatKey(key, by, file.endsWith('yaml') ? `"${value}"` : value),
    )
    const [offering] = (await load(flat('s', by) + more.join(''), { file })).offerings
    expect(offering).toMatchObject(expected)
    expect(offering?.plans[0]).not.toHaveProperty('free')
  })

  it('a number is a list of one', async () => {
    expect((await load(flat('s') + flatKey('tags', ': ', '1.10'))).offerings).toMatchObject([{ tags: ['1.10'] }])
  })

  it('elsewhere they are a mistake', async () => {
    const text = 'services: [{ id: s, name: s, description: d, bindable: false, tags: "a,b", plans: [] }]'
    await expect(load(text, { file: 'catalog.yaml' })).rejects.toThrow('"tags" must be a list')
  })
})

describe('placeholders', () => {
  const withName = (name: string, more = '') => more + flat('base').replace('name: base\n', `name: "${name}"\n`)

  it.each([
    [`\${NAME}`, { NAME: 'x' }, 'x'],
    [`a-\${NAME:fallback}-b`, {}, 'a-fallback-b'],
    [`\${NAME:\${OTHER:y}}`, {}, 'y'],
    [`\${broker.name}`, {}, 'from-file'],
    [`\${broker.name}`, { BROKER_NAME: 'from-env' }, 'from-env'],
    [`\${broker.full-name}`, { STAGE: 'dev' }, 'from-file-dev'],
    [`\${broker.loop:ended}`, {}, 'ended'],
  ])('%s with %j is %s', async (name, env, expected) => {
    const more = `broker: { name: from-file, full-name: "\${broker.name}-\${STAGE}", loop: "\${broker.loop}" }\n`
    expect(await namesOf(withName(name, more), env)).toEqual([expected])
  })

  it('one that stands for nothing is told at its line', async () => {
    await expect(load(withName(`\${NAME}`))).rejects.toThrow(
      `application.yaml:2:1: the placeholder \${NAME} stands for nothing; set the environment variable, or write a default: \${NAME:default}`,
    )
  })

  it('are left alone in a catalog that is not Spring’s', async () => {
    const plain = `services: [{ id: s, name: "\${X}", description: d, bindable: no, plans: [{ id: p, name: n, description: d }] }]`
    expect(await namesOf(plain.replace('no,', 'false,'))).toEqual([`\${X}`])
  })
})

describe('what Spring allows', () => {
  it('a plan id in two services is a warning, in one service it is not', async () => {
    const second = flat('second').replaceAll('services[0]', 'services[1]').replace('second-plan', 'base-plan')
    const { offerings, warnings } = await load(`${flat('base')}${second}`)
    expect(offerings).toHaveLength(2)
    expect(warnings).toContainEqual(
      'application.yaml:10:1 (service "second" > plan "plan"): the plan id "base-plan" is already used by service "base" > plan "plan"; give each plan an id of its own, over all services',
    )
    const twice = flat('base')
      .replaceAll('plans[0]', 'plans[1]')
      .split('\n')
      .slice(3)
      .join('\n')
      .replace('name: plan', 'name: other')
    await expect(load(flat('base') + twice)).rejects.toThrow('the plan id "base-plan" is already used')
  })

  it('spring.cloud.appbroker is passed over, and said so', async () => {
    const { warnings } = await load(`${flat('base')}spring.cloud.appbroker:\n  services: [{ service-name: base }]\n`)
    expect(warnings).toEqual([
      'application.yaml: "spring.cloud.appbroker" is passed over: nothing is deployed from it; do it in your services\' actions',
    ])
  })

  it('a number for a text, as it was written', async () => {
    const text = flat('base').replace('name: base', 'name: 1.10').replace('description: p', 'description: true')
    const [offering] = (await load(text)).offerings
    expect(offering).toMatchObject({ name: '1.10', plans: [{ description: 'true' }] })
  })
})
