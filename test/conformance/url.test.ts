import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'vitest'
import { openSqliteStore } from '../../src/store/sqlite/index.ts'
import { createVirtualClock } from '../../src/testing/virtual-clock.ts'
import { conformance, requirement } from './harness.ts'
import { another, incomplete, provisioned } from './helpers.ts'
import { createServices, full, org } from './services.ts'

const odd = [
  'ABC',
  'abc',
  '1',
  'not-a-uuid',
  'a b',
  'a+b',
  'a&b=c?d#e',
  'ünïcödé-✓',
  '%41',
  '{}',
  "o'clock",
  'x'.repeat(500),
]
const hostile = ["'; DROP TABLE instances; --", '../../../etc/passwd', '__proto__', 'constructor', 'a\nb', '$(id)']

conformance('Identifiers in URLs', () => {
  requirement('URL-01', 'the ids that the broker makes need no escaping', async t => {
    const instance = await t.client.provision('i', { ...full, ...org }, incomplete)
    await t.ended('i')
    const update = await t.client.update('i', { service_id: 'full', parameters: { size: 2 } }, incomplete)
    await t.ended('i')
    const bind = await t.client.bind('i', 'b', full, incomplete)
    await t.ended('i', 'b')
    const unbind = await t.client.unbind('i', 'b', full, incomplete)
    await t.ended('i', 'b')
    const gone = await t.client.deprovision('i', full, incomplete)
    for (const { status, body } of [instance, update, bind, unbind, gone]) {
      expect(status).toBe(202)
      expect(body.operation).toMatch(/^[A-Za-z0-9._~-]{1,100}$/)
    }
  })

  requirement('URL-02', 'any id will do, each is another one, and upper case is not lower case', async t => {
    for (const id of odd) {
      expect([id, (await t.client.fetchInstance(id)).status]).toEqual([id, 404])
      expect([id, (await t.client.provision(id, { ...full, ...org })).status]).toEqual([id, 201])
    }
    expect(t.backend.things.size).toBe(odd.length)
    for (const id of odd) expect(t.backend.things.has(`instance:${id}`)).toBe(true)
    expect((await t.client.deprovision('abc', full)).status).toBe(200)
    expect((await t.client.fetchInstance('ABC')).status).toBe(200)
    expect((await t.client.deprovision('Abc', full)).status).toBe(410)
  })

  requirement('URL-02', 'ids of the catalog are compared to the letter', async t => {
    const answer = await t.client.provision('i', { service_id: 'Full', plan_id: 'full-small', ...org })
    expect([answer.status, answer.body.error]).toEqual([400, 'UnknownService'])
    expect(t.backend.done).toEqual([])
  })

  requirement('URL-03', 'an id is escaped in every URL that the broker makes', async t => {
    const id = 'a/b c?d=é#%41'
    const { body } = await t.client.provision(id, { ...full, ...org }, incomplete)
    await t.ended(id)
    const url = new URL(body.dashboard_url ?? '')
    expect(url.pathname.split('/').slice(0, 3)).toEqual(['', 'dashboards', encodeURIComponent(id)])
    expect([url.search, url.hash]).toEqual(['', ''])
    const followed = await t.fetch(new Request(url, { redirect: 'manual' }))
    expect(followed.status).toBe(302)
  })

  requirement('URL-07', 'each segment is decoded once, after the path was split', async t => {
    const put = (segment: string) => t.request('PUT', `/v2/service_instances/${segment}`, { body: { ...full, ...org } })
    expect((await put('a%2Fb')).status).toBe(201)
    expect((await put('a%252Fb')).status).toBe(201)
    expect(t.backend.done).toEqual(['provision a/b', 'provision a%2Fb'])
    const path = '/v2/service_instances/a%2Fb/service_bindings/c%2Flast_operation'
    expect((await t.request('PUT', path, { body: full })).status).toBe(201)
    expect(t.backend.things.has('binding:c/last_operation')).toBe(true)
    expect((await t.request('GET', '/v2/service_instances/a/b')).status).toBe(404)
    const query = 'service_id=%66ull&plan_id=full%2Dsmall'
    expect((await t.request('DELETE', `/v2/service_instances/a%252Fb?${query}`)).status).toBe(200)
    expect(t.backend.things.has('instance:a/b')).toBe(true)
  })

  requirement('URL-07', 'a broken escape is a 400, in the path and in the query', async t => {
    await provisioned(t)
    const before = [...t.backend.done]
    const broken: [string, string][] = [
      ['PUT', '/v2/service_instances/%'],
      ['PUT', '/v2/service_instances/%zz'],
      ['GET', '/v2/service_instances/%C3%28'],
      ['PUT', '/v2/service_instances/i/service_bindings/%E0%A4'],
      ['DELETE', '/v2/service_instances/i?service_id=full&plan_id=%'],
      ['GET', '/v2/service_instances/i/last_operation?operation=%ff'],
    ]
    for (const [method, path] of broken) {
      const answer = await t.request(method, path, method === 'PUT' ? { body: { ...full, ...org } } : {})
      expect([path, answer.status, answer.body.error]).toEqual([path, 400, 'MalformedRequest'])
      expect(answer.body.description).toContain('percent-escape')
    }
    expect(t.backend.done).toEqual(before)
  })

  requirement('URL-08', 'an id with a NUL, which ends a text in many backends, is refused', async t => {
    await provisioned(t)
    for (const path of ['a%00b', 'i/service_bindings/%00']) {
      const answer = await t.request('PUT', `/v2/service_instances/${path}`, { body: { ...full, ...org } })
      expect([path, answer.status, answer.body.error]).toEqual([path, 400, 'MalformedRequest'])
    }
    expect(t.backend.done).toEqual(['provision i'])
  })

  requirement('URL-08', 'ids reach a store as values, whatever they look like', async t => {
    const folder = mkdtempSync(join(tmpdir(), 'purser-ids-'))
    const clock = createVirtualClock()
    const store = await openSqliteStore({ file: join(folder, 'ledger.db'), clock })
    try {
      for (const setup of [{}, { store, clock }]) {
        const broker = await another(t, { services: createServices(t.backend), ...setup })
        for (const id of hostile) {
          expect([id, (await broker.client.provision(id, { ...full, ...org })).status]).toEqual([id, 201])
          expect([id, (await broker.client.bind(id, id, full)).status]).toEqual([id, 201])
        }
        for (const id of hostile) {
          expect((await broker.client.fetchBinding(id, id)).body.credentials).toMatchObject({ username: id })
          expect((await broker.client.unbind(id, id, full)).status).toBe(200)
          expect((await broker.client.deprovision(id, full)).status).toBe(200)
        }
        await broker.stop()
      }
      expect(t.backend.things.size).toBe(0)
      expect(readdirSync(folder).filter(name => !name.startsWith('ledger.db'))).toEqual([])
    } finally {
      await store.close()
      rmSync(folder, { recursive: true })
    }
  })
})
