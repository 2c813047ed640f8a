import { expect } from 'vitest'
import { TerminalError } from '../../src/index.ts'
import { errorStatus } from '../../src/protocol/errors.ts'
import { StoreUnavailableError } from '../../src/store.ts'
import { conformance, type Platform, requirement } from './harness.ts'
import { another, bound, incomplete, provisioned } from './helpers.ts'
import { createServices, full, org } from './services.ts'

const small = { ...full, ...org }
const asyncOnly = { service_id: 'always-async', plan_id: 'always-async-plan' }
const appOnly = { service_id: 'app-only', plan_id: 'app-only-plan' }
const broken = { instanceUsable: false, updateRepeatable: false }

type Refusal = readonly [status: number, error: string, method: string, path: string, body?: unknown]

/** With an instance `i` of `full`, its binding `b` and an instance `a` of `app-only`: everything that can be refused. */
const refusals: readonly Refusal[] = [
  [400, 'MalformedRequest', 'PUT', 'x', 'no json'],
  [400, 'MalformedRequest', 'PUT', 'x', { ...small, service_id: '' }],
  [400, 'MalformedRequest', 'PATCH', 'i', {}],
  [400, 'MalformedRequest', 'DELETE', 'i'],
  [400, 'MalformedRequest', 'PUT', 'i/service_bindings/x', {}],
  [400, 'MalformedRequest', 'DELETE', 'i/service_bindings/b?service_id=full'],
  [400, 'MalformedRequest', 'GET', 'i/last_operation?operation=%zz'],
  [400, 'UnknownService', 'PUT', 'x', { ...small, service_id: 'nothing' }],
  [400, 'UnknownPlan', 'PUT', 'x', { ...small, plan_id: 'plain-plan' }],
  [400, 'InvalidParameters', 'PUT', 'x', { ...small, parameters: { size: 11 } }],
  [400, 'InvalidParameters', 'PATCH', 'i', { service_id: 'full', parameters: { size: 0 } }],
  [400, 'InvalidParameters', 'PUT', 'i/service_bindings/x', { ...full, parameters: { readonly: 1 } }],
  [404, 'InstanceNotFound', 'GET', 'x'],
  [404, 'InstanceNotFound', 'GET', 'x/last_operation'],
  [404, 'InstanceNotFound', 'PATCH', 'x', { service_id: 'full' }],
  [404, 'InstanceNotFound', 'PUT', 'x/service_bindings/x', full],
  [404, 'BindingNotFound', 'GET', 'i/service_bindings/x'],
  [404, 'BindingNotFound', 'GET', 'i/service_bindings/x/last_operation'],
  [405, 'MethodNotAllowed', 'POST', 'i', {}],
  [409, 'InstanceConflict', 'PUT', 'i', { ...small, parameters: { size: 2 } }],
  [409, 'BindingConflict', 'PUT', 'i/service_bindings/b', { ...full, parameters: { readonly: true } }],
  [410, 'InstanceGone', 'DELETE', 'x?service_id=full&plan_id=full-small'],
  [410, 'BindingGone', 'DELETE', 'i/service_bindings/x?service_id=full&plan_id=full-small'],
  [422, 'AsyncRequired', 'PUT', 'x', { ...asyncOnly, ...org }],
  [422, 'MaintenanceInfoConflict', 'PUT', 'x', { ...small, maintenance_info: { version: '9.0.0' } }],
  [422, 'MaintenanceInfoConflict', 'PATCH', 'i', { service_id: 'full', maintenance_info: { version: '9.0.0' } }],
  [422, 'RequiresApp', 'PUT', 'a/service_bindings/x', appOnly],
  [422, 'BindingsExist', 'DELETE', 'i?service_id=full&plan_id=full-small'],
]

async function prepare(t: Platform): Promise<void> {
  await provisioned(t)
  await bound(t)
  await provisioned(t, 'a', appOnly)
}

const refuse = (t: Platform, [, , method, path, body]: Refusal) =>
  t.request(method, `/v2/service_instances/${path}`, { body })

conformance('Errors', () => {
  requirement(['ERR-01', 'ERR-02'], 'every refusal has the status that the API names for it', async t => {
    await prepare(t)
    for (const refusal of refusals) {
      const [status, error, method, path] = refusal
      const answer = await refuse(t, refusal)
      expect([method, path, answer.status, answer.body.error]).toEqual([method, path, status, error])
    }
  })

  requirement('ERR-01', 'what nobody foresaw is a 500, and a store that is away a 503', async t => {
    t.store.instance = () => Promise.reject(new Error('canary-detail'))
    const unforeseen = await t.client.fetchInstance('i')
    expect([unforeseen.status, unforeseen.body.error]).toEqual([500, 'InternalError'])
    expect(unforeseen.text).not.toContain('canary-detail')
    t.store.instance = () => Promise.reject(new StoreUnavailableError('disk full'))
    const away = await t.client.lastOperation('i')
    expect([away.status, away.body.error, away.body.state]).toEqual([503, 'StoreUnavailable', undefined])
    expect(Number(away.headers['retry-after'])).toBeGreaterThan(0)
  })

  requirement(
    ['ERR-03', 'ERR-04', 'ERR-14'],
    'an error body is an object with two texts that say something',
    async t => {
      await prepare(t)
      const answers = await Promise.all(refusals.map(refusal => refuse(t, refusal)))
      answers.push(
        await t.request('GET', '/'),
        await t.request('GET', '/v2'),
        await t.request('GET', '/v2/service_instances/'),
        await t.request('GET', '/v2/catalog/more'),
        await t.request('DELETE', '/v2/catalog'),
        await t.request('GET', '/v2/catalog', { headers: { 'x-broker-api-version': '1.0' } }),
      )
      t.backend.failNext('update', new TerminalError(''))
      answers.push(
        await t.request('PATCH', '/v2/service_instances/i', { body: { service_id: 'full', parameters: { size: 2 } } }),
      )
      for (const { status, body, headers } of answers) {
        expect(status).toBeGreaterThanOrEqual(400)
        expect(headers.get('content-type')).toMatch(/^application\/json/)
        expect(body.error).toMatch(/^[A-Z][A-Za-z]+$/)
        expect(body.description).toMatch(/\w+ \w+/)
      }
    },
  )

  requirement('ERR-14', 'the four reserved words stand for their own situations only', async t => {
    const reserved = ['AsyncRequired', 'ConcurrencyError', 'RequiresApp', 'MaintenanceInfoConflict']
    await prepare(t)
    for (const refusal of refusals) {
      const { status, body } = await refuse(t, refusal)
      expect(reserved.includes(String(body.error))).toBe(reserved.includes(refusal[1]))
      if (reserved.includes(String(body.error))) expect(status).toBe(422)
    }
    expect(Object.keys(errorStatus)).toEqual(expect.arrayContaining(reserved))
  })

  requirement(['ERR-05', 'ERR-06'], 'a failed provision or binding says nothing of usable or repeatable', async t => {
    const answers: object[] = []
    t.backend.failNext('provision', new TerminalError('no', broken))
    answers.push((await t.client.provision('i', small)).body, (await t.client.lastOperation('i')).body)
    await provisioned(t)
    for (const action of ['bind', 'unbind']) {
      t.backend.failNext(action, new TerminalError('no', broken))
      const { body } = action === 'bind' ? await t.client.bind('i', 'b', full) : await t.client.unbind('i', 'b', full)
      answers.push(body, (await t.client.lastBindingOperation('i', 'b')).body)
      if (action === 'bind') await bound(t)
    }
    answers.push((await t.client.provision('i', { ...small, parameters: { size: 2 } })).body)
    expect(answers).toHaveLength(7)
    for (const body of answers) {
      expect(body).toMatchObject({ description: expect.stringMatching(/\w/) })
      expect(body).not.toHaveProperty('instance_usable')
      expect(body).not.toHaveProperty('update_repeatable')
    }
  })

  requirement('ERR-05', 'a failed update or deprovision says it where the author does, else not', async t => {
    const change = { service_id: 'full', parameters: { size: 2 } }
    await provisioned(t)
    t.backend.failNext('update', new TerminalError('no'))
    expect((await t.client.update('i', change)).body).not.toHaveProperty('instance_usable')
    t.backend.failNext('update', new TerminalError('no', { instanceUsable: false }))
    expect((await t.client.update('i', change)).body).toMatchObject({ instance_usable: false })
    expect((await t.client.lastOperation('i')).body).toMatchObject({ state: 'failed', instance_usable: false })
    t.backend.failNext('deprovision', new TerminalError('no', { instanceUsable: false }))
    expect((await t.client.deprovision('i', full)).body).toMatchObject({ instance_usable: false })
    expect((await t.client.lastOperation('i')).body).toMatchObject({ state: 'failed', instance_usable: false })
  })

  requirement('ERR-06', 'only a failed update says whether it can be repeated', async t => {
    const change = { service_id: 'full', parameters: { size: 2 } }
    await provisioned(t)
    t.backend.failNext('update', new TerminalError('no', { updateRepeatable: false }))
    expect((await t.client.update('i', change)).body).toMatchObject({ update_repeatable: false })
    expect((await t.client.lastOperation('i')).body).toMatchObject({ state: 'failed', update_repeatable: false })
    t.backend.failNext('deprovision', new TerminalError('no', broken))
    const answer = await t.client.deprovision('i', full)
    expect(answer.status).toBe(500)
    expect(answer.body).not.toHaveProperty('update_repeatable')
    expect((await t.client.lastOperation('i')).body).not.toHaveProperty('update_repeatable')
  })

  requirement('ERR-07', 'the four reserved words are used in their situations', async t => {
    await prepare(t)
    const asyncRequired = await t.client.provision('x', { ...asyncOnly, ...org })
    const conflict = await t.client.provision('x', { ...small, maintenance_info: { version: '0.0.1' } })
    const requiresApp = await t.client.bind('a', 'x', appOnly)
    const release = t.backend.hold('update')
    await t.client.update('i', { service_id: 'full', parameters: { size: 2 } }, incomplete)
    const concurrency = await t.client.update('i', { service_id: 'full', parameters: { size: 3 } }, incomplete)
    release()
    expect([asyncRequired, conflict, requiresApp, concurrency].map(({ status, body }) => [status, body.error])).toEqual(
      [
        [422, 'AsyncRequired'],
        [422, 'MaintenanceInfoConflict'],
        [422, 'RequiresApp'],
        [422, 'ConcurrencyError'],
      ],
    )
  })

  requirement('ERR-08', 'after any 4xx everything is as it was', async t => {
    await prepare(t)
    const before = await state(t)
    for (const refusal of refusals) {
      await refuse(t, refusal)
      expect([refusal, await state(t)]).toEqual([refusal, before])
    }
    expect((await t.client.fetchInstance('x')).status).toBe(404)
    expect(await t.store.instance('x')).toBeUndefined()
    expect(await t.store.history('x')).toEqual([])
  })

  requirement('ERR-08', 'a provision that its author refuses with a 4xx leaves nothing behind', async t => {
    const refusing = await another(t, {
      services: createServices(t.backend).map(service => ({
        ...service,
        async provision() {
          throw new TerminalError('No quota is left.', { status: 400 })
        },
      })),
    })
    const answer = await refusing.client.provision('i', small)
    expect([answer.status, answer.body.description]).toEqual([400, 'No quota is left.'])
    expect((await refusing.client.fetchInstance('i')).status).toBe(404)
    expect((await refusing.client.deprovision('i', full)).status).toBe(410)
  })

  requirement('ERR-09', 'after a 5xx everything is as it was', async t => {
    await prepare(t)
    const before = await state(t)
    t.backend.failNext('update', new TerminalError('the disk is full'))
    const update = { service_id: 'full', plan_id: 'full-large', parameters: { size: 5 } }
    expect((await t.client.update('i', update)).status).toBe(500)
    expect(await state(t)).toEqual(before)
    const { accept } = t.store
    t.store.accept = () => Promise.reject(new StoreUnavailableError('away'))
    expect((await t.client.provision('x', small)).status).toBe(503)
    expect((await t.client.update('i', update)).status).toBe(503)
    expect((await t.client.bind('i', 'x', full)).status).toBe(503)
    expect((await t.client.deprovision('a', appOnly)).status).toBe(503)
    t.store.accept = accept
    expect(await state(t)).toEqual(before)
    expect((await t.client.lastOperation('x')).status).toBe(404)
  })

  requirement(
    'ERR-09',
    'of a provision that failed for good nothing can be fetched, and it can be deleted',
    async t => {
      t.backend.failNext('provision', new TerminalError('the disk is full'))
      const answer = await t.client.provision('i', small)
      expect([answer.status, answer.body.error]).toEqual([500, 'ActionFailed'])
      expect((await t.client.fetchInstance('i')).status).toBe(404)
      expect(t.backend.things.size).toBe(0)
      expect((await t.client.deprovision('i', full)).status).toBe(200)
    },
  )
})

/** What a platform can see, and what the backend has done. */
async function state(t: Platform) {
  const fetched = [
    await t.client.fetchInstance('i'),
    await t.client.fetchInstance('a'),
    await t.client.fetchBinding('i', 'b'),
  ]
  return { seen: fetched.map(({ status, body }) => ({ status, body })), done: [...t.backend.done] }
}
