import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type CatalogState, catalogOf } from '../../src/domain/catalog-state.ts'
import { type Reconciled, reconcile } from '../../src/domain/reconcile.ts'
import type { RegistryReply, SeenBundle } from '../../src/domain/registry-reply.ts'
import { applyCatalogChanges } from './apply-catalog-changes.ts'
import { bundle, changesCatalog, complete, createWorld, hour, unreadable, type World } from './reconcile-world.ts'

const registryNames = ['one', 'two', 'three']

interface Round {
  readonly hours: number
  /** In the configuration's order; undefined is one that is not asked, and one that is not configured is not there. */
  readonly answers: Readonly<Record<string, RegistryReply | undefined>>
  /** Numbers that pick a service to provision, and an instance to deprovision. */
  readonly provisions: readonly number[]
  readonly deprovisions: readonly number[]
}

/** Few names and few versions, so that bundles collide, come back, and go back to an old version. */
function seenBundle(registry: string): fc.Arbitrary<SeenBundle> {
  return fc
    .record({
      as: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
      version: fc.integer({ min: 1, max: 2 }),
      kind: fc.constantFrom('own', 'own', 'own', 'shared', 'same-name', 'unreadable'),
    })
    .map(({ as, version, kind }) => {
      if (kind === 'unreadable') return unreadable(as)
      if (kind === 'same-name') return bundle(registry, 'twin', { as, version })
      return bundle(registry, as, { version, ...(kind === 'shared' ? { fullName: `shared-${as}` } : {}) })
    })
}

function reply(registry: string): fc.Arbitrary<RegistryReply> {
  const found = fc.uniqueArray(seenBundle(registry), { selector: ({ name }) => name, maxLength: 5 })
  return fc.oneof(
    { weight: 3, arbitrary: found.map(seen => ({ kind: 'complete' as const, found: seen, problems: [] })) },
    { weight: 2, arbitrary: found.map(seen => ({ kind: 'partial' as const, found: seen, problems: ['unread'] })) },
    { weight: 4, arbitrary: fc.constant({ kind: 'failed' as const, problem: 'down' }) },
  )
}

const answers = fc
  .tuple(
    ...registryNames.map(name =>
      fc.oneof(
        { weight: 8, arbitrary: reply(name).map(answer => [name, answer] as const) },
        { weight: 1, arbitrary: fc.constant([name, undefined] as const) },
        { weight: 1, arbitrary: fc.constant(undefined) },
      ),
    ),
  )
  .map(entries => Object.fromEntries(entries.filter(entry => entry !== undefined)))

const round: fc.Arbitrary<Round> = fc.record({
  hours: fc.integer({ min: 1, max: 10 }),
  answers,
  provisions: fc.array(fc.nat(), { maxLength: 2 }),
  deprovisions: fc.array(fc.nat(), { maxLength: 2 }),
})

const settings = fc.record({
  failureLimit: fc.option(fc.integer({ min: 1, max: 4 }), { nil: undefined }),
  retireAfter: fc.constantFrom(0, 12 * hour, 24 * hour),
})

/** `past`: the rounds before this one. */
type Check = (facts: {
  world: World
  round: Round
  past: readonly Round[]
  before: CatalogState
  result: Reconciled
}) => void

/** Plays the rounds, and checks after each of them. Retired services are provisioned too, as `accept` allows it. */
function play(check: Check, runs = 150): void {
  fc.assert(
    fc.property(settings, fc.array(round, { minLength: 3, maxLength: 14 }), ({ failureLimit, retireAfter }, rounds) => {
      const world = createWorld({ retireAfter, failureLimit, emptyAfter: 1 })
      let instances = 0
      for (const [i, round] of rounds.entries()) {
        world.wait(round.hours * hour)
        const before = world.state
        const result = world.sync(round.answers)
        check({ world, round, past: rounds.slice(0, i), before, result })
        for (const pick of round.provisions) {
          const service = world.state.services[pick % Math.max(1, world.state.services.length)]
          if (service !== undefined) world.pins.set(`instance-${instances++}`, service.revisionId)
        }
        for (const pick of round.deprovisions) {
          const id = [...world.pins.keys()][pick % Math.max(1, world.pins.size)]
          if (id !== undefined) world.deprovision(id)
        }
      }
    }),
    { numRuns: runs },
  )
}

describe('over many rounds of registries, failures and instances', () => {
  it('no used revision is ever deleted', () => {
    play(({ world, result }) => {
      const stored = new Set(world.state.revisions.map(({ id }) => id))
      for (const revisionId of world.pins.values()) {
        expect(stored).toContain(revisionId)
        expect(result.changes.deleteRevisions).not.toContain(revisionId)
      }
      const known = new Set(world.state.services.map(({ serviceId }) => serviceId))
      for (const { id, serviceId } of world.state.revisions)
        if (world.uses().has(id)) expect(known, 'the service of a used revision').toContain(serviceId)
    })
  })

  it('a failed registry retires nothing early, and nothing that is used', () => {
    play(({ world, round, past, before, result }) => {
      for (const { registry, serviceId } of result.report.retired) {
        const configured = Object.hasOwn(round.answers, registry)
        const answer = round.answers[registry]
        if (!configured || answer?.kind === 'complete') continue
        expect(answer?.kind, 'only a registry that failed may retire without a complete answer').toBe('failed')
        const { failures, silence } = troubleOf(registry, [...past, round])
        const { failureLimit = Number.POSITIVE_INFINITY, retireAfter } = world.settings
        expect(failures >= failureLimit || silence >= retireAfter).toBe(true)
        const used = before.revisions.some(({ id, serviceId: of }) => of === serviceId && world.uses().has(id))
        expect(used, 'a used service of a failed registry').toBe(false)
      }
    })
  })

  it('only what a complete answer does not list, or what nobody configures any more, leaves the catalog otherwise', () => {
    play(({ world, round, before, result }) => {
      for (const revision of catalogOf(before)) {
        if (world.names().includes(revision.fullName)) continue
        const retired = result.report.retired.find(({ serviceId }) => serviceId === revision.serviceId)
        expect(retired, `${revision.fullName} left without a word`).toBeDefined()
        const answer = round.answers[revision.registry]
        if (retired?.reason === 'unconfigured') expect(round.answers).not.toHaveProperty(revision.registry)
        else if (retired?.reason === 'gone') {
          expect(answer?.kind).toBe('complete')
          const listed = answer?.kind === 'complete' ? answer.found : []
          expect(listed.some(({ parsed }) => parsed?.serviceId === revision.serviceId)).toBe(false)
          expect(listed.some(({ name, parsed }) => name === revision.foundAs && parsed === undefined)).toBe(false)
        } else expect(answer?.kind).toBe('failed')
      }
    })
  })

  it('whatever an answer lists is in the catalog, from the first registry that has it', () => {
    play(({ world, round }) => {
      const order = Object.keys(round.answers)
      const offered = new Map(catalogOf(world.state).map(revision => [revision.serviceId, revision]))
      for (const [name, answer] of Object.entries(round.answers))
        for (const { parsed } of answer === undefined || answer.kind === 'failed' ? [] : answer.found)
          if (parsed !== undefined) {
            const from = offered.get(parsed.serviceId)?.registry
            expect(order.indexOf(from ?? ''), `${parsed.fullName} of ${name}`).toBeGreaterThanOrEqual(0)
            expect(order.indexOf(from ?? '')).toBeLessThanOrEqual(order.indexOf(name))
          }
    })
  })

  it('two runs change nothing', () => {
    play(({ world, round }) => {
      const { changes } = world.preview(round.answers)
      for (const [kind, rows] of Object.entries(changes)) expect(rows, kind).toEqual([])
      expect(applyCatalogChanges(world.state, changes)).toEqual(world.state)
    })
  })

  it('everything unused and gone is collected', () => {
    play(({ world }) => {
      const uses = world.uses()
      const current = new Set(world.state.services.map(({ revisionId }) => revisionId))
      for (const { id } of world.state.revisions) expect(current.has(id) || uses.has(id)).toBe(true)
      for (const { serviceId, retiredAt } of world.state.services)
        if (retiredAt !== undefined)
          expect(
            world.state.revisions.some(revision => revision.serviceId === serviceId && uses.has(revision.id)),
          ).toBe(true)
    })
  })

  it('is empty in the end, when all instances are gone and nothing is configured', () => {
    play(({ world }) => {
      const last = reconcile({ ...inputOf(world), registries: [], uses: new Map() })
      expect(applyCatalogChanges(world.state, last.changes)).toEqual({ registries: [], services: [], revisions: [] })
    }, 50)
  })

  it('catalog ids and names are unique, and every service has its current revision', () => {
    play(({ world }) => {
      const offered = catalogOf(world.state)
      expect(new Set(offered.map(({ serviceId }) => serviceId)).size).toBe(offered.length)
      expect(new Set(offered.map(({ fullName }) => fullName)).size).toBe(offered.length)
      const revisions = new Map(world.state.revisions.map(revision => [revision.id, revision]))
      for (const service of world.state.services)
        expect(revisions.get(service.revisionId)).toMatchObject({
          serviceId: service.serviceId,
          registry: service.registry,
        })
    })
  })

  it('the order in which a registry lists its bundles, and rows are stored, changes nothing', () => {
    play(({ world, round, before, result }) => {
      const turned = Object.entries(round.answers).map(([name, answer]) => ({
        name,
        ...(answer === undefined ? {} : { answer: reversed(answer) }),
      }))
      const stored = { ...before, services: before.services.toReversed(), revisions: before.revisions.toReversed() }
      expect(reconcile({ ...inputOf(world), registries: turned, stored })).toEqual(result)
    })
  })

  it('what was retired or deleted and returns has the ids that it had', () => {
    const idsEver = new Map<string, string>()
    play(({ world, result }) => {
      for (const { serviceId, fullName } of world.state.revisions) expect(serviceId).toBe(`id-of-${fullName}`)
      for (const { serviceId } of result.report.returned) {
        const service = world.state.services.find(one => one.serviceId === serviceId)
        expect(service).toBeDefined()
        expect(service).not.toHaveProperty('retiredAt')
      }
      for (const revision of result.changes.insertRevisions) {
        const key = JSON.stringify({ ...revision, id: '', firstSeenAt: 0 })
        expect(idsEver.get(key) ?? revision.id).toBe(revision.id)
        idsEver.set(key, revision.id)
      }
    })
  })
})

describe('10,000 unchanged specs', () => {
  it('change nothing, with work that grows no faster than their number', () => {
    const small = readsOf(1_000)
    const large = readsOf(10_000)
    expect(small).toBeGreaterThan(1_000)
    expect(large / small).toBeLessThan(11)
  })
})

/** How many fields of rows and bundles one run reads that finds `count` specs as it left them, a tenth of them in use. */
function readsOf(count: number): number {
  let reads = 0
  const counted = <Row extends object>(row: Row): Row =>
    new Proxy(row, {
      get(target, key, receiver) {
        reads++
        return Reflect.get(target, key, receiver)
      },
    })
  const world = createWorld()
  const bundles = Array.from({ length: count }, (_, i) => bundle('dh', `bundle-${i}`))
  world.sync({ dh: complete(...bundles) })
  for (let i = 0; i < count; i += 10) world.provision(`instance-${i}`, `dh-bundle-${i}`)
  world.wait(hour)
  const result = reconcile({
    ...inputOf(world),
    registries: [{ name: 'dh', answer: complete(...bundles.map(counted)) }],
    stored: {
      registries: world.state.registries,
      services: world.state.services.map(counted),
      revisions: world.state.revisions.map(counted),
    },
  })
  expect(changesCatalog(result)).toBe(false)
  expect(result.report).toEqual({
    added: [],
    updated: [],
    retired: [],
    returned: [],
    deleted: [],
    collisions: [],
    problems: [],
    warnings: [],
    vanished: [],
  })
  return reads
}

/** From the rounds alone: failures in a row up to the last one, and how long ago the last answer came. */
function troubleOf(registry: string, rounds: readonly Round[]): { failures: number; silence: number } {
  let failures = 0
  let silence = 0
  for (const { answers, hours } of rounds) {
    const answer = answers[registry]
    silence += hours * hour
    if (answer?.kind === 'failed') failures++
    else if (answer !== undefined) [failures, silence] = [0, 0]
  }
  return { failures, silence }
}

function inputOf(world: World) {
  return { now: world.now, stored: world.state, uses: world.uses(), settings: world.settings }
}

function reversed(answer: RegistryReply): RegistryReply {
  return answer.kind === 'failed' ? answer : { ...answer, found: answer.found.toReversed() }
}
