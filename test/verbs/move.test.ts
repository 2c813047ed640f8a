import { describe, expect, it } from 'vitest'
import { TerminalError } from '../../src/index.ts'
import { serviceOf } from '../engine/world.ts'
import { bundle, idsOf, place, ScriptedRegistry, startWorld, type WorldOptions } from '../sync/world.ts'
import { adminOf } from './admin.ts'

const ids = idsOf('local', 'db')
const accept = { acceptsIncomplete: true }
const reason = 'its deprovision has a fault'

/** An instance of version 1.0.0, whose deprovision fails; 1.1.0 is offered now. */
async function outdated(more: Partial<WorldOptions> = {}) {
  const registry = new ScriptedRegistry('local')
  registry.offers(bundle('db'))
  const world = await startWorld({
    registries: [registry],
    act(action, { bundleVersion }) {
      if (action === 'deprovision' && bundleVersion === '1.0.0') throw new TerminalError('a fault')
    },
    ...more,
  })
  await world.client.provision('i', { ...ids, ...place }, accept)
  expect(await world.end('i')).toMatchObject({ state: 'succeeded' })
  registry.offers(bundle('db', { version: '1.1.0' }))
  await world.sync()
  const revisions = (await world.store.catalog())?.revisions ?? []
  const idOf = (version: string) => revisions.find(({ bundleVersion }) => bundleVersion === version)?.id ?? ''
  return { ...world, registry, admin: adminOf(world), old: idOf('1.0.0'), current: idOf('1.1.0') }
}

async function versions({ store }: Pick<Awaited<ReturnType<typeof outdated>>, 'store'>) {
  return (await store.catalog())?.revisions.map(({ bundleVersion }) => bundleVersion).toSorted()
}

describe('POST /admin/instances/:id/move', () => {
  it('lets the revision that is offered now delete what its own could not, and the old one goes', async () => {
    const world = await outdated()
    await world.client.deprovision('i', ids, accept)
    expect(await world.end('i')).toMatchObject({ state: 'failed' })
    const { status, body } = await world.admin.moveInstance('i', { reason })
    expect({ status, body }).toEqual({
      status: 200,
      body: { instance_id: 'i', ...ids, revision: world.current, moved_from: world.old },
    })
    expect(await versions(world)).toEqual(['1.1.0'])
    expect((await world.store.history('i')).at(-1)).toMatchObject({
      type: 'acted',
      verb: 'move',
      by: 'anonymous',
      reason,
      before: { revision: world.old },
      after: { revision: world.current },
    })
    await world.client.deprovision('i', ids, accept)
    expect(await world.end('i')).toMatchObject({ state: 'succeeded' })
    expect(world.ran.at(-1)).toBe('deprovision 1.1.0')
  })

  it('runs nothing, and leaves the upgrade to the platform', async () => {
    const world = await outdated()
    const before = await world.store.instance('i')
    await world.admin.moveInstance('i', { reason, revision: world.current })
    expect(world.ran).toEqual(['provision 1.0.0'])
    const after = await world.store.instance('i')
    expect(after).toEqual({ ...before, revisionId: world.current, updatedAt: after?.updatedAt })
  })

  it('changes nothing where it is there already', async () => {
    const world = await outdated()
    const history = await world.store.history('i')
    expect(await world.admin.moveInstance('i', { reason, revision: world.old })).toMatchObject({
      status: 200,
      body: { revision: world.old, moved_from: world.old },
    })
    expect(await world.store.history('i')).toEqual(history)
  })

  it('refuses while something is at work on the instance or on a binding of it', async () => {
    let open = () => {}
    const world = await outdated({
      act: action => (action === 'provision' ? undefined : new Promise<void>(resolve => (open = resolve))),
    })
    const busy = { status: 422, body: { error: 'ConcurrencyError', detail: expect.stringContaining('busy') } }
    await world.client.bind('i', 'b', ids, accept)
    expect(await world.admin.moveInstance('i', { reason })).toMatchObject(busy)
    await world.clock.advance(0)
    open()
    await world.clock.advance(1_000)
    expect((await world.store.binding('i', 'b'))?.phase).toBe('ready')
    await world.client.update('i', { service_id: ids.service_id, maintenance_info: { version: '1.1.0' } }, accept)
    expect(await world.admin.moveInstance('i', { reason })).toMatchObject(busy)
    expect(await world.store.instance('i')).toMatchObject({ revisionId: world.old })
  })

  it('refuses a revision that is not stored, is of another service, or lacks the plan', async () => {
    const world = await outdated()
    const move = (revision: string) => world.admin.moveInstance('i', { reason, revision })
    expect(await move('nothing')).toMatchObject({ status: 404, body: { error: 'UnknownRevision' } })
    world.registry.offers(bundle('db', { version: '1.2.0' }), bundle('cache'))
    await world.sync()
    const other = (await world.store.catalog())?.revisions.find(({ fullName }) => fullName === 'local-cache')
    expect(await move(other?.id ?? '')).toMatchObject({ status: 404, body: { error: 'UnknownRevision' } })
    await world.client.provision('j', { ...ids, ...place }, accept)
    await world.end('j')
    const { version = 0, revisions = [] } = (await world.store.catalog()) ?? {}
    const [last] = revisions.filter(
      ({ bundleVersion, fullName }) => bundleVersion === '1.2.0' && fullName === 'local-db',
    )
    if (last === undefined) throw new Error('1.2.0 is not there')
    const narrow = { ...last, id: 'narrow', offering: { ...last.offering, plans: [] } }
    const changes = {
      putServices: [],
      deleteServices: [],
      deleteRevisions: [],
      putRegistries: [],
      deleteRegistries: [],
    }
    await world.store.changeCatalog(version, { ...changes, insertRevisions: [narrow] })
    expect(await move('narrow')).toMatchObject({
      status: 409,
      body: { error: 'VerbRefused', detail: expect.stringContaining('no plan') },
    })
    expect(await world.store.instance('i')).toMatchObject({ revisionId: world.old })
  })

  it('refuses what has no revisions, what is deleted and what nobody knows, and needs a reason', async () => {
    const world = await outdated({ services: [serviceOf({})] })
    await world.client.provision('own', { service_id: 'service', plan_id: 'plan', ...place }, accept)
    await world.end('own')
    expect(await world.admin.moveInstance('own', { reason })).toMatchObject({ status: 409 })
    expect(await world.admin.moveInstance('own', { reason, revision: world.old })).toMatchObject({ status: 409 })
    expect(await world.admin.moveInstance('nobody', { reason })).toMatchObject({ status: 404 })
    expect(await world.admin.moveInstance('i', { reason: '' })).toMatchObject({ status: 400 })
    await world.admin.abandonInstance('i', { reason })
    expect(await world.admin.moveInstance('i', { reason })).toMatchObject({ status: 410 })
  })
})

describe('POST /admin/instances/:id/abandon, of a bundle', () => {
  it('releases the pin, so that a revision whose image is gone can go', async () => {
    const world = await outdated()
    await world.client.deprovision('i', ids, accept)
    expect(await world.end('i')).toMatchObject({ state: 'failed' })
    expect(await versions(world)).toEqual(['1.0.0', '1.1.0'])
    const { body } = await world.admin.abandonInstance('i', { reason: 'its image is gone' })
    expect(body.remains).toMatchObject({ revision: world.old })
    expect(await versions(world)).toEqual(['1.1.0'])
    expect(await world.end('i')).toMatchObject({ state: 'succeeded' })
    expect((await world.client.deprovision('i', ids, accept)).status).toBe(410)
  })

  it('names what the bundle kept, and its sandbox', async () => {
    const world = await outdated()
    const row = await world.store.instance('i')
    if (row === undefined) throw new Error('i is not there')
    const state = { state: { user: 'u' }, credentials: { password: 'secret' }, sandbox: { name: 'o-x-1', until: 1 } }
    await world.store.accept({ instanceId: 'i' }, () => ({ answer: 0, change: { instance: { ...row, state } } }))
    const { body } = await world.admin.abandonInstance('i', { reason })
    expect(body.remains).toMatchObject({ state_keys: ['user', 'credentials'], sandboxes: ['o-x-1'] })
    expect(JSON.stringify(body)).not.toContain('secret')
  })
})
