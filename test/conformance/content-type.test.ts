import { expect } from 'vitest'
import { conformance, type Platform, requirement } from './harness.ts'
import { bound, endpoints, provisioned } from './helpers.ts'
import { full, org } from './services.ts'

const wanted = JSON.stringify({ ...full, ...org })

/** Bytes, so that nothing adds a content type of its own. */
function put(t: Platform, body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string>) {
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body
  const sent = { 'x-broker-api-version': '2.17', ...headers }
  return t.fetch(new Request(`${t.url}/v2/service_instances/i`, { method: 'PUT', headers: sent, body: bytes }))
}

conformance('Content type', () => {
  requirement('CT-01', 'every answer with a body says that it is JSON', async t => {
    await provisioned(t)
    await bound(t)
    for (const [method, path, body] of endpoints) {
      const answer = await t.request(method, path, { body })
      expect([path, answer.headers.get('content-type')]).toEqual([path, 'application/json'])
    }
  })

  requirement('CT-01', 'a charset and other parameters are fine', async t => {
    const types = ['application/json; charset=utf-8', 'Application/JSON;charset="UTF-8"', 'application/json ; a=b']
    expect((await put(t, wanted, { 'content-type': types[0] ?? '' })).status).toBe(201)
    for (const type of types)
      expect([type, (await put(t, wanted, { 'content-type': type })).status]).toEqual([type, 200])
  })

  requirement('CT-02', 'a body without the header is read all the same', async t => {
    expect((await put(t, wanted, {})).status).toBe(201)
    expect(t.backend.done).toEqual(['provision i'])
  })

  requirement('CT-03', 'another content type, or a body that cannot be read, is a 400', async t => {
    for (const type of ['text/plain', 'application/xml', 'application/x-www-form-urlencoded', 'json']) {
      const answer = await put(t, wanted, { 'content-type': type })
      expect([type, answer.status]).toEqual([type, 400])
      expect(await answer.json()).toMatchObject({ description: expect.stringContaining('application/json') })
    }
    const json = { 'content-type': 'application/json' }
    const invalid = new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])
    for (const body of ['{', '{"a":}', `${wanted}}`, "{'a':1}", 'undefined', '\u0000', invalid]) {
      const answer = await put(t, body, json)
      expect([body, answer.status]).toEqual([body, 400])
      expect(await answer.json()).toMatchObject({ error: 'MalformedRequest' })
    }
    expect(t.backend.done).toEqual([])
  })

  requirement('CT-04', 'JSON that is not an object, or has mandatory fields of another type, is a 400', async t => {
    await provisioned(t, 'there')
    const paths = ['new', 'there', 'there/service_bindings/b']
    const bodies = ['[]', '"x"', '1', 'true', 'null', '', '   ', '[{"service_id":"full","plan_id":"full-small"}]']
    for (const path of paths)
      for (const body of bodies) {
        const method = path === 'there' ? 'PATCH' : 'PUT'
        const answer = await t.request(method, `/v2/service_instances/${path}`, { body })
        expect([path, body, answer.status, answer.body.error]).toEqual([path, body, 400, 'MalformedRequest'])
      }
    for (const wrong of [1, true, [], {}, null, '', ['full']])
      for (const field of ['service_id', 'plan_id', 'organization_guid', 'space_guid']) {
        const body = { ...full, ...org, [field]: wrong }
        const answer = await t.request('PUT', '/v2/service_instances/new', { body })
        expect([field, wrong, answer.status]).toEqual([field, wrong, 400])
        expect(answer.body.description).toContain(field)
      }
    for (const field of ['context', 'parameters', 'maintenance_info'])
      for (const wrong of ['x', 1, []]) {
        const body = { ...full, ...org, [field]: wrong }
        expect((await t.request('PUT', '/v2/service_instances/new', { body })).status).toBe(400)
      }
    const absent = await t.request('PUT', '/v2/service_instances/new')
    expect([absent.status, absent.body.error]).toEqual([400, 'MalformedRequest'])
    expect(t.backend.done).toEqual(['provision there'])
  })
})
