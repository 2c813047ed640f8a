import { describe, expect, it } from 'vitest'
import { attacking, binding, expectRefusal, instance, place, sync, syncQuery, type Target } from './target.ts'
import type { Answer } from './wire.ts'

const names = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'valueOf', '__defineGetter__']

/** An object in JSON that would change every object of the process if somebody merged it carelessly. */
const poison = (name: string) =>
  `{"${name}":{"polluted":"yes","prototype":{"polluted":"yes"}},"nested":[{"${name}":1}]}`

const fields = Object.entries({ ...sync, ...place })
  .map(([name, value]) => `"${name}":"${value}"`)
  .join(',')

function expectClean(): void {
  expect(({} as { polluted?: string }).polluted).toBeUndefined()
  expect((Object as unknown as { polluted?: string }).polluted).toBeUndefined()
}

/** Served, or refused as the sender's mistake. */
function expectHandled(answer: Answer): void {
  expect([200, 201, 400, 404]).toContain(answer.status)
  expect(answer.body).toBeTypeOf('object')
  expectClean()
}

describe.each(names)('the key %s', name => {
  it.each(['parameters', 'context', 'maintenance_info', 'unknown', name])('in %s of a provision', field =>
    attacking(async target => {
      const body = `{${fields},"${field}":${poison(name)}}`
      const answer = await target.send({ method: 'PUT', path: instance('i'), body })
      expectHandled(answer)
      if (field === 'parameters') await expectIntact(target, answer, poison(name))
    }),
  )

  it.each(['parameters', 'context', 'previous_values', 'maintenance_info', name])('in %s of an update', field =>
    attacking(async target => {
      await target.send({ method: 'PUT', path: instance('i'), body: `{${fields}}` })
      const body = `{"service_id":"${sync.service_id}","${field}":${poison(name)}}`
      const answer = await target.send({ method: 'PATCH', path: instance('i'), body })
      expectHandled(answer)
      if (field === 'parameters') await expectIntact(target, answer, poison(name))
    }),
  )

  it.each(['parameters', 'context', 'bind_resource', name])('in %s of a bind', field =>
    attacking(async target => {
      await target.send({ method: 'PUT', path: instance('i'), body: `{${fields}}` })
      const body = `{${fields},"${field}":${poison(name)}}`
      expectHandled(await target.send({ method: 'PUT', path: binding('i', 'b'), body }))
      const fetched = await target.send({ method: 'GET', path: binding('i', 'b') })
      expectHandled(fetched)
      if (field === 'parameters' && fetched.status === 200)
        expect(JSON.stringify((fetched.body as { parameters: unknown }).parameters)).toBe(poison(name))
    }),
  )

  it('in parameters that a schema describes', () =>
    attacking(async target => {
      const body = `{"service_id":"full","plan_id":"full-small","context":{"namespace":"n"},"parameters":${poison(name)}}`
      expectHandled(await target.send({ method: 'PUT', path: instance('i'), body }))
    }))

  it('as an id, a service, a plan, a query parameter and a header', () =>
    attacking(async target => {
      const body = `{${fields}}`
      expect(await target.send({ method: 'PUT', path: instance(name), body })).toMatchObject({ status: 201 })
      expect(await target.send({ method: 'PUT', path: binding(name, name), body })).toMatchObject({ status: 201 })
      expect(await target.send({ method: 'GET', path: binding(name, name) })).toMatchObject({ status: 200 })
      expect(await target.send({ method: 'DELETE', path: binding(name, name) + syncQuery })).toMatchObject({
        status: 200,
      })
      expect(await target.send({ method: 'DELETE', path: instance(name) + syncQuery })).toMatchObject({ status: 200 })
      expect(await target.send({ method: 'GET', path: instance(name) })).toMatchObject({ status: 404 })
      expect([...target.backend.things]).toEqual([])
      for (const [ids, deleted] of [
        // Whatever the service was, there is no such instance.
        [{ ...sync, service_id: name }, 410],
        [{ ...sync, plan_id: name }, 400],
      ] as const) {
        const unknown = JSON.stringify({ ...place, ...ids })
        expectRefusal(await target.send({ method: 'PUT', path: instance('i'), body: unknown }), 400)
        const query = `?service_id=${ids.service_id}&plan_id=${ids.plan_id}`
        expectRefusal(await target.send({ method: 'DELETE', path: instance('i') + query }), deleted)
      }
      const catalog = await target.send({
        method: 'GET',
        path: `/v2/catalog?${name}=1&${name}[polluted]=yes`,
        headers: [
          [name, 'polluted'],
          [name, 'twice'],
        ],
      })
      expect(catalog.status).toBe(200)
      expectRefusal(await target.send({ method: 'GET', path: `/v2/${name}` }), 404)
      expectRefusal(await target.send({ method: name, path: '/v2/catalog' }), 400)
      expectClean()
    }))
})

/** What was taken is given back as it came, own key for own key. */
async function expectIntact(target: Target, answer: Answer, sent: string): Promise<void> {
  if (answer.status === 400) return
  const { body } = await target.send({ method: 'GET', path: instance('i') })
  expect(JSON.stringify((body as { parameters: unknown }).parameters)).toBe(sent)
}
