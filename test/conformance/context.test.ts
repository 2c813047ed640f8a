import { expect } from 'vitest'
import type { JsonObject } from '../../src/protocol/json.ts'
import { conformance, requirement } from './harness.ts'
import { another, bare, bareService } from './helpers.ts'
import { full, org } from './services.ts'

const kubernetes = { platform: 'kubernetes', namespace: 'team-a', clusterid: 'c-1' }

interface Bound {
  readonly instance: { readonly id: string }
  readonly binding: { readonly id: string; readonly bindResource: JsonObject }
}

conformance('Context and bind resource', () => {
  requirement('CTX-05', 'any platform is served, with whatever its context has', async t => {
    const bodies: object[] = [
      { ...full, ...org },
      { ...full, ...org, context: {} },
      { ...full, ...org, context: null },
      { ...full, ...org, context: { platform: 'cloudfoundry' } },
      { ...full, ...org, context: { platform: 'sapcp', subaccount_id: 's' } },
      { ...full, ...org, context: { no_platform: true } },
      { ...full, context: { platform: 'cloudfoundry', ...org } },
      { ...full, context: { platform: 'kubernetes', namespace: 'team-a' } },
      { ...full, context: kubernetes },
    ]
    for (const [index, body] of bodies.entries()) {
      const id = `i${index}`
      const sent = JSON.stringify(body)
      expect([sent, (await t.request('PUT', `/v2/service_instances/${id}`, { body })).status]).toEqual([sent, 201])
      const context = { platform: 'sapcp' }
      const update = { service_id: 'full', context }
      expect((await t.client.update(id, update)).status).toBe(200)
      expect((await t.client.bind(id, 'b', { ...full, context })).status).toBe(201)
      expect((await t.client.bind(id, 'c', full)).status).toBe(201)
    }
  })

  requirement(
    'CTX-05',
    'where the operator does not insist on org and space, a context needs nothing at all',
    async t => {
      expect((await t.client.provision('i', { ...full, context: { platform: 'sapcp' } })).status).toBe(201)
      expect((await t.client.provision('j', full)).status).toBe(201)
    },
    { settings: { osb: { requireOrgAndSpace: false } } },
  )

  requirement('CTX-05', 'the author sees the context as it came', async t => {
    const seen: JsonObject[] = []
    const look = async (ctx: { instance: { context: JsonObject } }) => void seen.push(ctx.instance.context)
    const broker = await another(t, { services: [bareService({ provision: look, deprovision: look })] })
    const context = { platform: 'sapcp', nested: { zone: ['a'] } }
    await broker.client.provision('i', { ...bare, ...org, context })
    await broker.client.deprovision('i', bare)
    expect(seen).toEqual([
      { ...context, ...org },
      { ...context, ...org },
    ])
  })

  requirement('CTX-21', 'an instance outlives a change of its clusterid', async t => {
    expect((await t.client.provision('i', { ...full, context: kubernetes })).status).toBe(201)
    expect((await t.client.bind('i', 'b', { ...full, context: kubernetes })).status).toBe(201)
    const moved = { ...kubernetes, clusterid: 'c-2' }
    expect((await t.client.bind('i', 'b', { ...full, context: moved })).status).toBe(200)
    expect((await t.client.bind('i', 'c', { ...full, context: moved })).status).toBe(201)
    const update = { service_id: 'full', context: moved, parameters: { size: 2 } }
    expect((await t.client.update('i', update)).status).toBe(200)
    expect((await t.store.instance('i'))?.context).toEqual(moved)
    expect((await t.client.fetchInstance('i')).body.parameters).toEqual({ size: 2 })
    expect((await t.client.unbind('i', 'b', full)).status).toBe(200)
    expect((await t.client.unbind('i', 'c', full)).status).toBe(200)
    expect((await t.client.deprovision('i', full)).status).toBe(200)
    expect(t.backend.things.size).toBe(0)
  })

  requirement(
    ['BRES-04', 'BRES-05'],
    'a binding may be a CredHub reference, and bind and unbind are told which client it is for',
    async t => {
      const readers = new Map<string, string>()
      const reference = ({ instance, binding }: Bound) => `/c/bare/${instance.id}/${binding.id}/credentials`
      const broker = await another(t, {
        services: [
          bareService({
            bindable: true,
            bindingsRetrievable: true,
            async bind(ctx: Bound) {
              readers.set(reference(ctx), String(ctx.binding.bindResource.credential_client_id))
              return { credentials: { 'credhub-ref': reference(ctx) } }
            },
            async unbind(ctx: Bound) {
              if (readers.get(reference(ctx)) === ctx.binding.bindResource.credential_client_id)
                readers.delete(reference(ctx))
            },
          }),
        ],
      })
      await broker.client.provision('i', { ...bare, ...org })
      const bind_resource = { credential_client_id: 'client-7' }
      const { status, body } = await broker.client.bind('i', 'b', { ...bare, bind_resource })
      expect([status, body]).toEqual([201, { credentials: { 'credhub-ref': '/c/bare/i/b/credentials' } }])
      expect([...readers]).toEqual([['/c/bare/i/b/credentials', 'client-7']])
      expect((await broker.client.fetchBinding('i', 'b')).body.credentials).toEqual(body.credentials)
      expect((await broker.client.unbind('i', 'b', bare)).status).toBe(200)
      expect(readers.size).toBe(0)
    },
  )
})
