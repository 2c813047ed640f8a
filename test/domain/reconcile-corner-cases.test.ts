import { describe, expect, it } from 'vitest'
import { provisionability, type RetiredPlans } from '../../src/domain/provisionability.ts'
import { bundle, changesCatalog, complete, createWorld, defaults, failed, hour, type World } from './reconcile-world.ts'

const policies: readonly RetiredPlans[] = ['reject', 'accept', 'fail-async']

/** Two specs; an instance of the first. */
function inUse(world: World): World {
  world.sync({ dh: complete(bundle('dh', 'pg'), bundle('dh', 'redis')) })
  world.provision('one', 'dh-pg')
  return world
}

function failEveryHour(world: World, times: number): void {
  for (let i = 0; i < times; i++) {
    world.wait(hour)
    world.sync({ dh: failed })
  }
}

describe('lost connection', () => {
  it('failureLimit off: nothing is retired before retireAfter, then the unused specs are', () => {
    const world = inUse(createWorld())
    failEveryHour(world, 23)
    expect(world.names()).toEqual(['dh-pg', 'dh-redis'])
    expect(world.registry('dh')).toMatchObject({ failures: 23, lastProblem: 'connect ECONNREFUSED' })
    world.wait(hour)
    const { report } = world.sync({ dh: failed })
    expect(report.retired).toMatchObject([{ fullName: 'dh-redis', reason: 'silence' }])
    expect(world.names()).toEqual(['dh-pg'])
  })

  it('failureLimit 3: the unused specs are retired with the third failure in a row', () => {
    const world = inUse(createWorld({ ...defaults, failureLimit: 3, retireAfter: 24 * hour }))
    failEveryHour(world, 2)
    expect(world.names()).toEqual(['dh-pg', 'dh-redis'])
    world.wait(hour)
    expect(world.sync({ dh: failed }).report.retired).toMatchObject([{ fullName: 'dh-redis', reason: 'failures' }])
  })

  it('failureLimit 3: an answer in between starts the count again', () => {
    const world = inUse(createWorld({ ...defaults, failureLimit: 3, retireAfter: 24 * hour }))
    for (let i = 0; i < 5; i++) {
      failEveryHour(world, 2)
      world.sync({ dh: complete(bundle('dh', 'pg'), bundle('dh', 'redis')) })
    }
    expect(world.names()).toEqual(['dh-pg', 'dh-redis'])
    expect(world.registry('dh')).toMatchObject({ failures: 0 })
    expect(world.registry('dh')).not.toHaveProperty('silentSince')
  })

  it('a failure that is reconciled twice counts once', () => {
    const world = inUse(createWorld({ ...defaults, failureLimit: 2, retireAfter: 24 * hour }))
    world.wait(hour)
    world.sync({ dh: failed })
    const again = world.sync({ dh: failed })
    expect(again.changes.putRegistries).toEqual([])
    expect(world.names()).toEqual(['dh-pg', 'dh-redis'])
  })

  it('used specs stay in the catalog, however long it lasts; unused ones follow with their last instance', () => {
    const world = inUse(createWorld({ ...defaults, failureLimit: 1, retireAfter: hour }))
    failEveryHour(world, 100)
    expect(world.names()).toEqual(['dh-pg'])
    world.deprovision('one')
    failEveryHour(world, 1)
    expect(world.names()).toEqual([])
    expect(world.state.revisions).toEqual([])
  })

  it('another registry is not touched', () => {
    const world = createWorld({ ...defaults, failureLimit: 1, retireAfter: hour })
    const quay = complete(bundle('quay', 'pg'))
    world.sync({ dh: complete(bundle('dh', 'pg')), quay })
    world.sync({ dh: failed, quay })
    expect(world.names()).toEqual(['quay-pg'])
  })

  it('the time in which nobody asked is not silence: one failure after a long pause retires nothing', () => {
    const world = inUse(createWorld())
    world.wait(72 * hour)
    expect(changesCatalog(world.sync({ dh: failed }))).toBe(false)
    failEveryHour(world, 23)
    expect(world.names()).toEqual(['dh-pg', 'dh-redis'])
    failEveryHour(world, 1)
    expect(world.names()).toEqual(['dh-pg'])
  })

  it('retireAfter 0 retires with the first failure', () => {
    const world = inUse(createWorld({ ...defaults, retireAfter: 0 }))
    failEveryHour(world, 1)
    expect(world.names()).toEqual(['dh-pg'])
  })

  it('the same services are back with the connection', () => {
    const world = inUse(createWorld({ ...defaults, failureLimit: 1, retireAfter: 24 * hour }))
    const before = world.state.services
    failEveryHour(world, 1)
    world.sync({ dh: complete(bundle('dh', 'pg'), bundle('dh', 'redis')) })
    expect(world.state.services).toEqual(before)
  })
})

describe('an answer that empties a registry', () => {
  const nothing = { dh: complete() }

  it('is believed when it was given emptyAfter times in a row; until then it is a problem', () => {
    const world = inUse(createWorld({ ...defaults, emptyAfter: 3 }))
    for (const answer of [1, 2]) {
      world.wait(hour)
      expect(world.sync(nothing).report.retired).toEqual([])
      expect(world.names()).toEqual(['dh-pg', 'dh-redis'])
      expect(world.registry('dh')?.problems).toEqual([
        expect.stringContaining(`it has nothing at all any more (answer ${answer} of 3 in a row), and 2 services`),
      ])
    }
    world.wait(hour)
    expect(world.sync(nothing).report.retired).toMatchObject([{ fullName: 'dh-pg' }, { fullName: 'dh-redis' }])
    expect(world.registry('dh')).not.toHaveProperty('problems')
  })

  it('counts once where it is reconciled twice, and anew after any other answer', () => {
    const world = inUse(createWorld({ ...defaults, emptyAfter: 2 }))
    for (const other of [failed, complete(bundle('dh', 'pg'), bundle('dh', 'redis'))]) {
      world.wait(hour)
      world.sync(nothing)
      expect(world.sync(nothing).changes.putRegistries).toEqual([])
      world.wait(hour)
      world.sync({ dh: other })
    }
    expect(world.names()).toEqual(['dh-pg', 'dh-redis'])
  })

  it('is no problem of a registry of which nothing is offered, and one that has something left is believed at once', () => {
    const world = inUse(createWorld({ ...defaults, emptyAfter: 3 }))
    expect(world.sync({ dh: complete(bundle('dh', 'pg')), other: complete() }).report.retired).toHaveLength(1)
    expect(world.registry('other')).not.toHaveProperty('problems')
  })
})

describe('removed spec with instances', () => {
  it('leaves the catalog, and keeps its revision until the last instance is gone', () => {
    const world = inUse(createWorld())
    world.provision('two', 'dh-pg')
    const pinned = world.service('dh-pg')?.revisionId
    const { report } = world.sync({ dh: complete(bundle('dh', 'redis')) })
    expect(report.retired).toMatchObject([{ fullName: 'dh-pg', reason: 'gone' }])
    expect(report.deleted).toEqual([])
    expect(world.names()).toEqual(['dh-redis'])

    world.deprovision('one')
    expect(changesCatalog(world.sync({ dh: complete(bundle('dh', 'redis')) }))).toBe(false)
    world.deprovision('two')
    const last = world.sync({ dh: complete(bundle('dh', 'redis')) })
    expect(last.changes).toMatchObject({ deleteServices: ['id-of-dh-pg'], deleteRevisions: [pinned] })
    expect(last.report.deleted).toMatchObject([{ fullName: 'dh-pg' }])
  })

  it('comes back under its old ids, with the revision its instances have', () => {
    const world = inUse(createWorld())
    const before = world.service('dh-pg')
    world.sync({ dh: complete() })
    world.wait(hour)
    const { report, changes } = world.sync({ dh: complete(bundle('dh', 'pg')) })
    expect(report.returned).toMatchObject([{ fullName: 'dh-pg', serviceId: 'id-of-dh-pg' }])
    expect(changes.insertRevisions).toEqual([])
    expect(world.service('dh-pg')).toEqual(before)
  })
})

describe('untimely provision', () => {
  it.each(policies)('%s: a service that is not known yet waits for the first sync, then runs', retiredPlans => {
    const world = createWorld()
    expect(provisionability(world.service('dh-pg'), { retiredPlans, synced: false })).toEqual({ kind: 'wait' })
    world.sync({ dh: complete(bundle('dh', 'pg')) })
    const service = world.service('dh-pg')
    expect(provisionability(service, { retiredPlans, synced: true })).toEqual({
      kind: 'run',
      revisionId: service?.revisionId,
    })
  })

  it.each(policies)('%s: a service that no registry has is refused with the reason after it', retiredPlans => {
    expect(provisionability(undefined, { retiredPlans, synced: true })).toMatchObject({
      kind: 'reject',
      reason: expect.stringContaining('No registry offers this service'),
    })
  })

  it.each(policies)('%s: what the store knows runs at once, first sync or not', retiredPlans => {
    const service = inUse(createWorld()).service('dh-redis')
    expect(provisionability(service, { retiredPlans, synced: false })).toMatchObject({ kind: 'run' })
  })

  it.each(policies)(
    '%s: a retired service may be on its way back, so it waits unless it is accepted anyway',
    policy => {
      const world = inUse(createWorld())
      world.sync({ dh: complete() })
      const { kind } = provisionability(world.service('dh-pg'), { retiredPlans: policy, synced: false })
      expect(kind).toBe(policy === 'accept' ? 'run' : 'wait')
    },
  )

  it('one that is accepted while a sync runs keeps the revision that the next sync finds used', () => {
    const world = createWorld()
    world.sync({ dh: complete(bundle('dh', 'pg')) })
    world.provision('early', 'dh-pg')
    const { changes } = world.sync({ dh: complete(bundle('dh', 'pg', { version: 2 })) })
    expect(changes.deleteRevisions).toEqual([])
    expect(world.state.revisions.map(({ id }) => id)).toContain(world.pins.get('early'))
  })
})

describe('out-of-sync provision', () => {
  const retired = () => {
    const world = inUse(createWorld())
    world.sync({ dh: complete() })
    return world.service('dh-pg')
  }

  it('reject: refused, and told to read the catalog again', () => {
    expect(provisionability(retired(), { retiredPlans: 'reject', synced: true })).toEqual({
      kind: 'reject',
      reason: 'Registry dh no longer offers this service: read the catalog again. Existing instances are not affected.',
    })
  })

  it('accept: provisioned with the revision that was current last', () => {
    const service = retired()
    expect(provisionability(service, { retiredPlans: 'accept', synced: true })).toEqual({
      kind: 'run',
      revisionId: service?.revisionId,
    })
  })

  it('accept: the new instance keeps the retired service', () => {
    const world = inUse(createWorld())
    world.sync({ dh: complete() })
    world.provision('two', 'dh-pg')
    world.deprovision('one')
    expect(changesCatalog(world.sync({ dh: complete() }))).toBe(false)
  })

  it('fail-async: accepted, then failed with the reason', () => {
    expect(provisionability(retired(), { retiredPlans: 'fail-async', synced: true })).toMatchObject({
      kind: 'fail-async',
      reason: expect.stringContaining('no longer offers this service'),
    })
  })
})
