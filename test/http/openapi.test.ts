import { Ajv2020 } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import { describe, expect, it } from 'vitest'
import { routeDescriptions } from '../../src/http/admin/openapi/describe-routes.ts'
import { toOpenApi } from '../../src/http/admin/openapi/document.ts'
import { adminRoutes } from '../../src/http/admin/routes.ts'
import { TerminalError } from '../../src/index.ts'
import { createWorld, seconds } from '../engine/world.ts'

type Answers = Record<string, { content: Record<string, { schema: object }> }>
type Document = { paths: Record<string, Record<string, { responses: Answers }>>; components: object }

const document = toOpenApi(adminRoutes, '1.0.0') as unknown as Document

function operationOf(path: string, method: string): object {
  return document.paths[path]?.[method] ?? {}
}

/** Whether an answer is what the document says of its path. */
function check(path: string, method: string, { status, body }: { status: number; body: unknown }) {
  const { responses } = document.paths[path]?.[method] ?? {}
  const found = responses?.[status] ?? (status < 400 ? undefined : responses?.default)
  expect(found, `${method} ${path} ${status} is not described`).toBeDefined()
  const media = found?.content['application/json'] ?? found?.content['application/problem+json']
  const ajv = new Ajv2020({ strict: false, allErrors: true })
  formats.default(ajv)
  const valid = ajv.compile({ ...media?.schema, components: document.components })
  expect(valid(body), `${method} ${path} ${status}: ${ajv.errorsText(valid.errors)}\n${JSON.stringify(body)}`).toBe(
    true,
  )
}

describe('GET /admin/openapi.json', () => {
  it('has every route with its verb, and no other', () => {
    expect(Object.keys(routeDescriptions)).toEqual(Object.keys(adminRoutes))
    const described = Object.entries(document.paths).flatMap(([path, verbs]) =>
      Object.keys(verbs).map(verb => `${verb} ${path}`),
    )
    const routes = Object.entries(adminRoutes).map(
      ([key, { method }]) => `${method.toLowerCase()} ${key.replace(/^\w+ /, '').replaceAll(/:(\w+)/g, '{$1}')}`,
    )
    expect(described).toEqual(routes)
  })

  it('says in which ways one may sign in', () => {
    const { security, components } = toOpenApi(adminRoutes, '1.0.0') as Record<string, unknown>
    expect(security).toEqual([{ basic: [] }, { bearer: [] }, { session: [] }, { certificate: [] }])
    expect(components).toMatchObject({
      securitySchemes: {
        basic: { type: 'http', scheme: 'basic' },
        bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
        session: { type: 'apiKey', in: 'cookie', name: 'purser' },
        certificate: { type: 'mutualTLS' },
      },
    })
  })

  it('says what requests are read with', () => {
    const { parameters } = operationOf('/admin/operations', 'get') as { parameters: unknown[] }
    expect(parameters).toContainEqual({
      in: 'query',
      name: 'limit',
      required: false,
      schema: { type: 'integer', minimum: 1, maximum: 200 },
    })
    expect(parameters).toContainEqual(
      expect.objectContaining({ name: 'state', schema: { type: 'string', enum: expect.arrayContaining(['failed']) } }),
    )
    const { requestBody } = operationOf('/admin/operations/{id}/fail', 'post') as { requestBody: object }
    expect(requestBody).toMatchObject({
      required: true,
      content: { 'application/json': { schema: { required: ['reason', 'message'], additionalProperties: false } } },
    })
    const batch = operationOf('/admin/batches', 'post') as { requestBody: object }
    expect(batch.requestBody).toMatchObject({
      content: {
        'application/json': {
          schema: { properties: { ids: { type: 'array', items: { type: 'string' } }, operations: { type: 'object' } } },
        },
      },
    })
  })

  it('is true of what the API answers', async () => {
    const world = createWorld({
      service: {
        bindable: true,
        async provision({ instance, step }) {
          await step('one', async () => 1)
          if (instance.id === 'broken') throw new TerminalError('no room')
          if (instance.id === 'slow') await step('two', () => Promise.reject(new Error('not yet')))
        },
        bind: async () => ({ credentials: {} }),
        async unbind() {},
        observe: async () => ({ ready: true }),
      },
    })
    const broker = await world.boot()
    const ok = await broker.provision('i')
    const broken = await broker.provision('broken')
    const slow = await broker.provision('slow')
    await world.clock.advance(seconds(31))
    await broker.bind('i', 'b')
    await world.clock.advance(seconds(1))
    const send = async (method: string, path: string, given?: object) => {
      const body = given && JSON.stringify(given)
      const headers = { 'content-type': 'application/json' }
      const response = await broker.fetch(new Request(`${broker.url}${path}`, { method, body, headers }))
      return { status: response.status, body: await response.json() }
    }
    const reads = [
      'me',
      'openapi.json',
      'stats',
      'revisions',
      'workers',
      'quotas',
      'errors',
      'instances',
      'bindings',
      'operations',
    ]
    for (const name of [...reads, 'chores', 'registries'])
      check(`/admin/${name}`, 'get', await send('GET', `/admin/${name}`))
    check('/admin/operations', 'get', await send('GET', '/admin/operations?state=never'))
    check('/admin/instances/{id}', 'get', await send('GET', '/admin/instances/i'))
    for (const id of [ok, broken, slow])
      for (const more of ['', '/timeline', '/log'])
        check(`/admin/operations/{id}${more}`, 'get', await send('GET', `/admin/operations/${id}${more}`))
    const verb = async (id: string, name: string, given = {}) =>
      check(`/admin/operations/{id}/${name}`, 'post', await send('POST', `/admin/operations/${id}/${name}`, given))
    await verb(broken, 'retry')
    await verb(ok, 'retry')
    await verb(slow, 'run-now')
    await verb(slow, 'fail', { message: 'no', reason: 'why' })
    await verb(slow, 'cancel')
    const act = async (id: string, name: string, given: object) =>
      check(`/admin/instances/{id}/${name}`, 'post', await send('POST', `/admin/instances/${id}/${name}`, given))
    await act('i', 'observe', {})
    await act('i', 'move', { reason: 'why' })
    await act('i', 'abandon', { reason: 'why', bindings: true })
    await act('i', 'sweep', { reason: 'why' })
    await act('new', 'adopt', { service_id: 'service', plan_id: 'plan', reason: 'why' })
    for (const dry_run of [true, false])
      check(
        '/admin/batches',
        'post',
        await send('POST', '/admin/batches', { action: 'sweep', ids: ['i'], reason: 'why', dry_run }),
      )
    check('/admin/chores/{name}/runs', 'post', await send('POST', '/admin/chores/purge/runs'))
    check('/admin/registries/sync', 'post', await send('POST', '/admin/registries/sync'))
    check('/admin/history', 'get', await send('GET', '/admin/history'))
    await send('POST', '/admin/chores/history/runs')
    check('/admin/history/chain', 'get', await send('GET', '/admin/history/chain'))
    check('/admin/history/entries', 'get', await send('GET', '/admin/history/entries'))
  })
})
