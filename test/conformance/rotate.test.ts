import { expect } from 'vitest'
import { defineService, type Service } from '../../src/index.ts'
import { conformance, requirement } from './harness.ts'
import { another, bare, bareService, bound, incomplete, provisioned } from './helpers.ts'
import { full, org } from './services.ts'

const service_id = 'full'
const large = { service_id, plan_id: 'full-large' }
const rotation = { predecessor_binding_id: 'b' }
const busy = { status: 422, body: { error: 'ConcurrencyError' } }
const unknown = { status: 400, body: { error: 'UnknownPredecessor' } }

/** Binds applications to a role that all rotations of one binding share; each binding has a password of its own. */
function createRoles(live: Set<string>, more: object = {}): Service {
  const plan = { id: 'bare-plan', name: 'plan', description: 'A plan', bindingRotatable: true }
  return defineService({
    ...bareService({ bindable: true, requiresApp: true, plans: [plan], ...more }),
    async bind(ctx) {
      const role = String(ctx.predecessorState?.role ?? `role-${ctx.binding.id}`)
      live.add(`${role}/${ctx.binding.id}`)
      return { credentials: { role, password: ctx.binding.id }, state: { role } }
    },
    async unbind(ctx) {
      live.delete(`${String(ctx.bindingState.role)}/${ctx.binding.id}`)
    },
  })
}

conformance('Rotating bindings', () => {
  requirement('ROT-01', 'the catalog says per plan whether bindings can be rotated, and so it is', async t => {
    const { body } = await t.client.catalog()
    const plans = body.services?.find(({ id }) => id === service_id)?.plans
    expect(plans?.find(({ id }) => id === 'full-small')?.binding_rotatable).toBe(true)
    expect(plans?.find(({ id }) => id === 'full-large')?.binding_rotatable).not.toBe(true)
    await provisioned(t, 'i')
    await bound(t, 'i', 'b')
    expect((await t.client.bind('i', 'c', rotation)).status).toBe(201)
    await provisioned(t, 'j', large)
    await bound(t, 'j', 'b', large)
    expect(await t.client.bind('j', 'c', rotation)).toMatchObject({ status: 400, body: { error: 'NotRotatable' } })
    expect((await t.client.lastBindingOperation('j', 'c')).status).toBe(404)
  })

  requirement('ROT-05', "a rotation needs nothing but its predecessor's id: the rest is the predecessor's", async t => {
    const platform = await another(t, { services: [createRoles(new Set())] })
    await provisioned(platform, 'i', bare)
    const bind_resource = { app_guid: 'app', space_guid: 'space' }
    const request = { ...bare, bind_resource, parameters: { readonly: true } }
    expect((await platform.client.bind('i', 'b', request)).status).toBe(201)
    expect((await platform.client.bind('i', 'c', rotation)).status).toBe(201)
    expect((await platform.client.fetchBinding('i', 'c')).body.parameters).toEqual({ readonly: true })
    const { appGuid, bindResource } = (await platform.store.binding('i', 'c')) ?? {}
    expect({ appGuid, bindResource }).toEqual({ appGuid: 'app', bindResource: bind_resource })
    const own = { ...rotation, ...bare, parameters: { readonly: false } }
    expect((await platform.client.bind('i', 'd', own)).status).toBe(201)
    expect((await platform.client.fetchBinding('i', 'd')).body.parameters).toEqual({ readonly: false })
  })

  requirement('ROT-06', 'old and new are valid side by side until each is deleted', async t => {
    await provisioned(t)
    await bound(t)
    expect((await t.client.bind('i', 'c', rotation)).status).toBe(201)
    expect([...t.backend.things]).toEqual(['instance:i', 'binding:b', 'binding:c'])
    await t.clock.advance(600_000)
    for (const id of ['b', 'c'])
      expect(await t.client.fetchBinding('i', id)).toMatchObject({
        status: 200,
        body: { credentials: { username: id } },
      })
    expect((await t.client.unbind('i', 'b', full)).status).toBe(200)
    expect([...t.backend.things]).toEqual(['instance:i', 'binding:c'])
    expect((await t.client.fetchBinding('i', 'c')).status).toBe(200)
  })

  requirement('ROT-07', 'a rotation is answered as a bind is', async t => {
    const always = createRoles(new Set(), { requiresApp: false, actions: { bind: { async: 'always' } } })
    const platform = await another(t, { services: [always] })
    await provisioned(platform, 'i', bare)
    await platform.client.bind('i', 'b', bare, incomplete)
    await platform.ended('i', 'b')
    const refused = { status: 422, body: { error: 'AsyncRequired' } }
    expect(await platform.client.bind('i', 'c', rotation)).toMatchObject(refused)
    const accepted = await platform.client.bind('i', 'c', rotation, incomplete)
    expect([accepted.status, accepted.body]).toEqual([202, { operation: expect.stringMatching(/./) }])
    expect(await platform.ended('i', 'c')).toMatchObject({ state: 'succeeded' })

    await provisioned(t)
    await bound(t)
    const created = await t.client.bind('i', 'c', rotation)
    expect([created.status, created.body.credentials]).toEqual([201, { username: 'c', password: 'secret-c' }])
    const again = await t.client.bind('i', 'c', rotation)
    expect([again.status, again.body]).toEqual([200, created.body])
    expect((await t.client.bind('i', 'c', full)).status).toBe(409)
    const wrong = { ...rotation, parameters: { readonly: 'x' } }
    expect(await t.client.bind('i', 'd', wrong)).toMatchObject({ status: 400, body: { error: 'InvalidParameters' } })
    expect((await t.client.bind('i', 'd', { ...rotation, ...large })).status).toBe(400)
    expect((await t.client.bind('nobody', 'd', rotation)).status).toBe(404)
  })

  requirement('ROT-08', 'state carries over, and deleting the predecessor does not harm the successor', async t => {
    const live = new Set<string>()
    const platform = await another(t, { services: [createRoles(live)] })
    await provisioned(platform, 'i', bare)
    const first = await platform.client.bind('i', 'b', { ...bare, app_guid: 'app' })
    const second = await platform.client.bind('i', 'c', rotation)
    expect(first.body.credentials).toEqual({ role: 'role-b', password: 'b' })
    expect(second.body.credentials).toEqual({ role: 'role-b', password: 'c' })
    expect((await platform.client.unbind('i', 'b', bare)).status).toBe(200)
    expect([...live]).toEqual(['role-b/c'])
    expect((await platform.client.fetchBinding('i', 'c')).body.credentials).toEqual(second.body.credentials)
    const third = await platform.client.bind('i', 'd', { predecessor_binding_id: 'c' })
    expect(third.body.credentials).toEqual({ role: 'role-b', password: 'd' })
    for (const id of ['c', 'd']) expect((await platform.client.unbind('i', id, bare)).status).toBe(200)
    expect([...live]).toEqual([])
  })

  requirement('ROT-09', 'a predecessor that is unknown, elsewhere, gone or expired is 400', async t => {
    await provisioned(t, 'i')
    await provisioned(t, 'j')
    await bound(t, 'j', 'b')
    expect(await t.client.bind('i', 'c', rotation)).toMatchObject(unknown)
    t.backend.bindResult = { credentials: {}, metadata: { expiresAt: new Date(t.clock.now() + 60_000) } }
    await bound(t, 'i', 'b')
    await t.clock.advance(59_000)
    t.backend.bindResult = undefined
    expect((await t.client.bind('i', 'c', rotation)).status).toBe(201)
    await t.clock.advance(1_000)
    expect(await t.client.bind('i', 'd', rotation)).toMatchObject(unknown)
    expect((await t.client.unbind('i', 'c', full)).status).toBe(200)
    expect(await t.client.bind('i', 'd', { predecessor_binding_id: 'c' })).toMatchObject(unknown)
    expect((await t.client.lastBindingOperation('i', 'd')).status).toBe(404)
  })

  requirement('ROT-09', 'a predecessor in motion is a ConcurrencyError', async t => {
    await provisioned(t)
    for (const action of ['bind', 'unbind'] as const) {
      const release = t.backend.hold(action)
      const begun = t.client[action]('i', 'b', full, incomplete)
      expect((await begun).status).toBe(202)
      expect(await t.client.bind('i', 'c', rotation, incomplete)).toMatchObject(busy)
      expect((await t.client.lastBindingOperation('i', 'c')).status).toBe(404)
      release()
      await t.ended('i', 'b')
    }
  })

  requirement('ROT-10', 'a repeat is the same rotation, another predecessor is a conflict', async t => {
    await provisioned(t)
    await bound(t, 'i', 'a')
    await bound(t, 'i', 'b')
    const release = t.backend.hold('bind')
    const first = await t.client.bind('i', 'c', rotation, incomplete)
    const again = await t.client.bind('i', 'c', rotation, incomplete)
    expect([first.status, again.status]).toEqual([202, 202])
    expect(again.body).toEqual(first.body)
    const conflict = { status: 409, body: { error: 'BindingConflict' } }
    const others = [
      { predecessor_binding_id: 'a' },
      { ...rotation, ...large },
      { ...rotation, service_id: 'always-sync', plan_id: 'always-sync-plan' },
    ]
    for (const other of others) expect(await t.client.bind('i', 'c', other, incomplete)).toMatchObject(conflict)
    release()
    await t.ended('i', 'c')
    expect((await t.client.bind('i', 'c', rotation)).status).toBe(200)
    expect((await t.client.bind('i', 'c', { ...rotation, ...full })).status).toBe(200)
    for (const other of others) expect(await t.client.bind('i', 'c', other)).toMatchObject(conflict)
    expect((await t.client.unbind('i', 'b', full)).status).toBe(200)
    expect((await t.client.bind('i', 'c', rotation)).status).toBe(200)
    expect((await t.client.update('i', large)).status).toBe(200)
    expect((await t.client.bind('i', 'c', rotation)).status).toBe(200)
    expect((await t.client.bind('i', 'd', { predecessor_binding_id: 'c' })).body.error).toBe('NotRotatable')
    expect(t.backend.done.filter(line => line === 'bind c')).toHaveLength(1)
  })

  requirement('ROT-05', 'a rotation inherits from a predecessor of an instance with a context of its own', async t => {
    expect((await t.client.provision('i', { ...full, ...org })).status).toBe(201)
    const context = { platform: 'cloudfoundry', space_guid: 'space-1' }
    expect((await t.client.bind('i', 'b', { ...full, context })).status).toBe(201)
    expect((await t.client.bind('i', 'c', rotation)).status).toBe(201)
    expect((await t.store.binding('i', 'c'))?.context).toEqual(context)
  })
})
