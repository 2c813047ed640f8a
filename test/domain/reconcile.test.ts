import { describe, expect, it } from 'vitest'
import { unusedOf } from '../../src/domain/catalog-state.ts'
import { revisionIdOf } from '../../src/domain/revision.ts'
import { bundle, changesCatalog, complete, createWorld, failed, hour, partial, unreadable } from './reconcile-world.ts'

const names = (services: readonly { readonly fullName: string }[]) => services.map(({ fullName }) => fullName)

describe('revision ids', () => {
  const { parsed: _, ...found } = bundle('dh', 'pg')

  it('are the same for the same version', () => {
    expect(revisionIdOf('dh', 'dh-pg', { ...found })).toBe(revisionIdOf('dh', 'dh-pg', found))
  })

  it.each([
    ['another digest', { digest: 'sha256:other' }],
    ['another text of the spec', { source: 'name: pg\n' }],
    ['another image', { image: 'elsewhere.example/pg:latest' }],
    ['another tag', { tag: 'v2' }],
    ['another runtime', { runtime: 1 as const }],
  ])('differ for %s', (_, other) => {
    expect(revisionIdOf('dh', 'dh-pg', { ...found, ...other })).not.toBe(revisionIdOf('dh', 'dh-pg', found))
  })

  it('do not run the fields together', () => {
    expect(revisionIdOf('dh', 'x-pg', found)).not.toBe(revisionIdOf('dhx', '-pg', found))
  })
})

describe('a complete answer', () => {
  it('adds what it lists, and a second run changes nothing', () => {
    const world = createWorld()
    const answers = { dh: complete(bundle('dh', 'pg'), bundle('dh', 'redis')) }
    const first = world.sync(answers)
    expect(names(first.report.added)).toEqual(['dh-pg', 'dh-redis'])
    expect(first.report.added[0]).toMatchObject({ registry: 'dh', tag: 'latest', bundleVersion: '1.0.0' })
    expect(world.names()).toEqual(['dh-pg', 'dh-redis'])
    expect(world.current('dh-pg')).toMatchObject({ foundAs: 'pg', firstSeenAt: world.now })

    const again = world.sync(answers)
    expect(changesCatalog(again)).toBe(false)
    expect(again.changes.putRegistries).toEqual([])
    world.wait(hour)
    const later = world.sync(answers)
    expect(changesCatalog(later)).toBe(false)
    expect(later.changes.putRegistries).toEqual([
      { name: 'dh', checkedAt: world.now, lastAnswerAt: world.now, lastCompleteAt: world.now, failures: 0 },
    ])
  })

  it('makes a new version current, and keeps the old one for its instances only', () => {
    const world = createWorld()
    world.sync({ dh: complete(bundle('dh', 'pg')) })
    world.provision('old', 'dh-pg')
    const before = world.service('dh-pg')?.revisionId ?? ''
    const { report, changes } = world.sync({ dh: complete(bundle('dh', 'pg', { version: 2 })) })
    expect(report.updated).toMatchObject([{ fullName: 'dh-pg', bundleVersion: '2.0.0', from: before }])
    expect(changes.deleteRevisions).toEqual([])
    expect(world.current('dh-pg')?.bundleVersion).toBe('2.0.0')

    world.deprovision('old')
    expect(world.sync({ dh: complete(bundle('dh', 'pg', { version: 2 })) }).changes.deleteRevisions).toEqual([before])
    expect(world.state.revisions.map(({ bundleVersion }) => bundleVersion)).toEqual(['2.0.0'])
  })

  it('makes a kept version current again, when its tag is moved back, without another row', () => {
    const world = createWorld()
    world.sync({ dh: complete(bundle('dh', 'pg')) })
    world.provision('old', 'dh-pg')
    const first = world.current('dh-pg')
    world.wait(hour)
    world.sync({ dh: complete(bundle('dh', 'pg', { version: 2 })) })
    const { changes } = world.sync({ dh: complete(bundle('dh', 'pg')) })
    expect(changes.insertRevisions).toEqual([])
    expect(world.current('dh-pg')).toEqual(first)
  })

  it('retires only specs of its own registry', () => {
    const world = createWorld()
    world.sync({ dh: complete(bundle('dh', 'pg')), quay: complete(bundle('quay', 'pg')) })
    const { report } = world.sync({ dh: complete(), quay: undefined })
    expect(report.retired).toMatchObject([{ fullName: 'dh-pg', reason: 'gone' }])
    expect(names(report.deleted)).toEqual(['dh-pg'])
    expect(world.names()).toEqual(['quay-pg'])
  })

  it('retires a spec that was renamed inside its bundle, and adds it under the new name', () => {
    const world = createWorld()
    world.sync({ dh: complete(bundle('dh', 'pg')) })
    const { report } = world.sync({ dh: complete(bundle('dh', 'postgres', { as: 'pg' })) })
    expect(names(report.retired)).toEqual(['dh-pg'])
    expect(names(report.added)).toEqual(['dh-postgres'])
  })

  it('follows a named tag: the service stays, its revision is another', () => {
    const world = createWorld()
    world.sync({ dh: complete(bundle('dh', 'pg')) })
    const { report } = world.sync({ dh: complete(bundle('dh', 'pg', { tag: 'v1' })) })
    expect(report.updated).toMatchObject([{ fullName: 'dh-pg', tag: 'v1' }])
    expect(world.current('dh-pg')?.image).toBe('registry.example/pg:v1')
    expect(report.retired).toEqual([])
  })
})

describe('a partial answer', () => {
  it('updates what it saw and retires nothing', () => {
    const world = createWorld()
    world.sync({ dh: complete(bundle('dh', 'pg'), bundle('dh', 'redis')) })
    const { report } = world.sync({ dh: partial(bundle('dh', 'redis', { version: 2 }), bundle('dh', 'new')) })
    expect(names(report.updated)).toEqual(['dh-redis'])
    expect(names(report.added)).toEqual(['dh-new'])
    expect(report.retired).toEqual([])
    expect(report.problems).toEqual([{ registry: 'dh', problem: 'team/broken: the manifest cannot be read' }])
    expect(world.names()).toEqual(['dh-new', 'dh-pg', 'dh-redis'])
    expect(world.registry('dh')).toMatchObject({ partial: true, lastAnswerAt: world.now })
  })

  it('brings a retired spec back, and does not retire it for being partial', () => {
    const world = createWorld()
    world.sync({ dh: complete(bundle('dh', 'pg')) })
    world.provision('one', 'dh-pg')
    world.sync({ dh: complete() })
    expect(world.names()).toEqual([])
    expect(changesCatalog(world.sync({ dh: partial() }))).toBe(false)
    expect(names(world.sync({ dh: partial(bundle('dh', 'pg')) }).report.returned)).toEqual(['dh-pg'])
  })
})

describe('a spec that cannot be used any more', () => {
  it('keeps its last good revision and is reported', () => {
    const world = createWorld()
    world.sync({ dh: complete(bundle('dh', 'pg', { as: 'team/pg' })) })
    const before = world.state.services
    const result = world.sync({ dh: complete(unreadable('team/pg')) })
    expect(changesCatalog(result)).toBe(false)
    expect(world.state.services).toEqual(before)
    expect(result.report.problems).toEqual([{ registry: 'dh', name: 'team/pg', problem: 'plans: a plan needs a name' }])
  })

  it('is only reported where there is no good revision', () => {
    const world = createWorld()
    const result = world.sync({ dh: complete(unreadable('pg'), bundle('dh', 'redis')) })
    expect(world.names()).toEqual(['dh-redis'])
    expect(result.report.problems).toHaveLength(1)
  })

  it('does not bring a retired one back', () => {
    const world = createWorld()
    world.sync({ dh: complete(bundle('dh', 'pg')) })
    world.provision('one', 'dh-pg')
    world.sync({ dh: complete() })
    world.sync({ dh: complete(unreadable('pg')) })
    expect(world.names()).toEqual([])
  })

  it('of another registry does not save a namesake', () => {
    const world = createWorld()
    world.sync({ dh: complete(bundle('dh', 'pg')), quay: complete() })
    world.sync({ dh: complete(), quay: complete(unreadable('pg')) })
    expect(world.names()).toEqual([])
  })
})

describe('a registry that was taken out of the configuration', () => {
  it('counts as one that answered, and has nothing', () => {
    const world = createWorld()
    world.sync({ dh: complete(bundle('dh', 'pg'), bundle('dh', 'redis')), quay: complete(bundle('quay', 'pg')) })
    world.provision('one', 'dh-pg')
    const { report, changes } = world.sync({ quay: failed })
    expect(report.retired).toMatchObject([
      { fullName: 'dh-pg', reason: 'unconfigured' },
      { fullName: 'dh-redis', reason: 'unconfigured' },
    ])
    expect(names(report.deleted)).toEqual(['dh-redis'])
    expect(changes.deleteRegistries).toEqual(['dh'])
    expect(world.names()).toEqual(['quay-pg'])
    expect(world.service('dh-pg')?.retiredAt).toBe(world.now)

    expect(names(world.sync({ quay: failed, dh: complete(bundle('dh', 'pg')) }).report.returned)).toEqual(['dh-pg'])
  })
})

describe('collisions', () => {
  const shared = 'a-b-c'

  it('are won by the registry that the configuration names first, whoever came first', () => {
    const world = createWorld()
    const late = { first: undefined, second: complete(bundle('second', 'c', { fullName: shared })) }
    world.sync(late)
    expect(world.current(shared)?.registry).toBe('second')
    world.provision('one', shared)
    const both = { ...late, first: complete(bundle('first', 'b-c', { fullName: shared })) }
    const { report } = world.sync(both)
    expect(world.current(shared)?.registry).toBe('first')
    expect(report.collisions).toEqual([
      {
        serviceId: 'id-of-a-b-c',
        fullName: shared,
        offered: { registry: 'first', name: 'b-c' },
        leftOut: { registry: 'second', name: 'c' },
      },
    ])
    expect(world.state.revisions.map(({ registry }) => registry).sort()).toEqual(['first', 'second'])
    expect(changesCatalog(world.sync(both))).toBe(false)
  })

  it('are not won by the other registry because the first one does not answer', () => {
    const world = createWorld()
    const second = complete(bundle('second', 'c', { fullName: shared }))
    world.sync({ first: complete(bundle('first', 'b-c', { fullName: shared })), second })
    const { report } = world.sync({ first: failed, second })
    expect(world.current(shared)?.registry).toBe('first')
    expect(report.collisions).toMatchObject([{ offered: { registry: 'first' }, leftOut: { registry: 'second' } }])
    world.sync({ first: complete(), second })
    expect(world.current(shared)?.registry).toBe('second')
  })

  it('within one registry go to the bundle that is current, in whatever order they come', () => {
    const world = createWorld()
    const [a, z] = [bundle('dh', 'pg', { as: 'a/pg' }), bundle('dh', 'pg', { as: 'z/pg', version: 2 })]
    world.sync({ dh: complete(z) })
    world.sync({ dh: complete(a, z) })
    expect(world.current('dh-pg')?.foundAs).toBe('z/pg')
    expect(changesCatalog(world.sync({ dh: complete(z, a) }))).toBe(false)
    // Not seen is not gone, and neither is what cannot be read.
    expect(changesCatalog(world.sync({ dh: partial(a) }))).toBe(false)
    expect(changesCatalog(world.sync({ dh: complete(a, unreadable('z/pg')) }))).toBe(false)
    world.sync({ dh: complete(a) })
    expect(world.current('dh-pg')?.foundAs).toBe('a/pg')
  })

  it('within one registry are settled by name where none is current', () => {
    const [a, z] = [bundle('dh', 'pg', { as: 'a/pg' }), bundle('dh', 'pg', { as: 'z/pg', version: 2 })]
    for (const order of [
      [a, z],
      [z, a],
    ]) {
      const world = createWorld()
      world.sync({ dh: complete(...order) })
      expect(world.current('dh-pg')?.foundAs).toBe('a/pg')
      expect(world.state.revisions).toHaveLength(1)
    }
  })
})

describe('the sweep', () => {
  it('collects a retired service with its last instance, and nothing of its neighbours', () => {
    const world = createWorld()
    world.sync({ dh: complete(bundle('dh', 'pg'), bundle('dh', 'redis')) })
    world.provision('one', 'dh-pg')
    world.sync({ dh: complete(bundle('dh', 'redis')) })
    expect(unusedOf(world.state, world.uses())).toEqual({ deleteServices: [], deleteRevisions: [] })
    const revisionId = world.service('dh-pg')?.revisionId
    world.deprovision('one')
    expect(unusedOf(world.state, world.uses())).toEqual({
      deleteServices: ['id-of-dh-pg'],
      deleteRevisions: [revisionId],
    })
  })
})

describe('what is wrong with the ledger', () => {
  it('is told: instances whose revision is not stored', () => {
    const world = createWorld()
    world.pins.set('one', 'lost-revision')
    const { report } = world.sync({ dh: complete() })
    expect(report.problems[0]?.problem).toMatch(/^1 instance is pinned to revision lost-revision, which is not stored/)
  })
})
