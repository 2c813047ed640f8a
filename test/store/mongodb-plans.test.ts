import { expect, it } from 'vitest'
import { openMongoStore } from '../../src/store/mongodb/index.ts'
import type { Store } from '../../src/store.ts'
import { change, pin, registryRow, revisionRow, serviceRow } from '../../src/testing/store-contract/catalog-rows.ts'
import {
  bind,
  bindingRow,
  claimOne,
  finish,
  instanceRow,
  leaseOf,
  leaseTime,
  operationRow,
  provision,
  standing,
  stepRow,
  supersede,
} from '../../src/testing/store-contract/rows.ts'
import type { MongoServer } from '../external/mongodb.ts'
import {
  actQueries,
  bindingQueries,
  inBothOrders,
  instanceQueries,
  isOfTwoParts,
  type Lead,
  operationQueries,
} from './list-queries.ts'
import { describeMongo, withClient, withStores } from './mongodb-subject.ts'

const crowd = 300
const far = 9_000_000_000_000

/** What the server notes of each statement while its profiler is on. */
interface Profiled {
  readonly op: string
  readonly ns: string
  readonly planSummary?: string
  readonly docsExamined?: number
  readonly keysExamined?: number
  readonly hasSortStage?: boolean
  readonly command: {
    readonly writeConcern?: Concern
    readonly readConcern?: Concern
    readonly maxTimeMS?: number
    /** Of a look for the edge of an index. */
    readonly skip?: number
  }
}

interface Concern {
  readonly w?: unknown
  readonly level?: unknown
}

describeMongo('mongodb: the work behind a call', server => {
  it('finds its documents by an index, however many there are', async () => {
    await withStores(server(), 1, async ([store], database) => {
      if (store === undefined) throw new Error('no store')
      await fill(store)
      const profile = await profiled(server(), database, () => callEverything(store))
      expect(profile.length).toBeGreaterThan(40)
      expect(profile.filter(({ planSummary }) => planSummary?.includes('COLLSCAN')).map(shown)).toEqual([])
      const greedy = profile.filter(({ docsExamined = 0, keysExamined = 0 }) => docsExamined + keysExamined > crowd / 3)
      expect(greedy.map(shown)).toEqual([])
    })
  })

  it('walks an index for every list', async () => {
    await withStores(server(), 1, async ([store], database) => {
      if (store === undefined) throw new Error('no store')
      await fill(store)
      const { listInstances, listBindings, listOperations, listActs } = store
      const calls = [
        ...inBothOrders(instanceQueries).map(([, query, lead]) => [listInstances, query, lead] as const),
        ...inBothOrders(bindingQueries).map(([, query, lead]) => [listBindings, query, lead] as const),
        ...inBothOrders(operationQueries).map(([, query, lead]) => [listOperations, query, lead] as const),
        ...inBothOrders(actQueries).map(([, query, lead]) => [listActs, query, lead] as const),
      ] as readonly (readonly [list: Store['listInstances'], query: object, lead: Lead])[]
      const profile = await profiled(server(), database, async () => {
        for (const [list, query] of calls) await list({ ...query, limit: 5 })
      })
      const expected = calls.flatMap(([list, query, lead]) => {
        const isOfOperations = list === (listOperations as unknown) && !('state' in query)
        return isOfTwoParts(isOfOperations ? 'operations' : '', lead) ? [lead, 'active' as const] : [lead]
      })
      const pages = profile.filter(({ command }) => command.skip === undefined)
      const walked = pages.map(({ ns, planSummary }) => `${ns.split('.')[1]} ${planSummary}`)
      expect(walked.map(leadIn).sort()).toEqual([...expected].sort())
      // Nobody waits longer for a list than for any other statement.
      expect(profile.filter(({ command }) => command.maxTimeMS === undefined).map(shown)).toEqual([])
      expect(profile.filter(({ planSummary = '' }) => !planSummary.startsWith('IXSCAN')).map(shown)).toEqual([])
      // Few by their nature: the active ones, and those of one instance.
      const sorted = profile.filter(({ hasSortStage }) => hasSortStage)
      expect([...new Set(sorted.map(({ planSummary }) => planSummary))].sort()).toEqual([
        'IXSCAN { dueAt: 1, seq: 1 }',
        'IXSCAN { instance: 1, lock: 1, place: 1 }',
        'IXSCAN { instance: 1, seq: 1 }',
      ])
    })
  })

  it('looks at no more documents for a page than it may', async () => {
    await withStores(server(), 1, async ([store], database) => {
      if (store === undefined) throw new Error('no store')
      await fill(store)
      const lists = [store.listInstances, store.listBindings] as Store['listInstances'][]
      const profile = await profiled(server(), database, async () => {
        for (const list of lists) {
          const { items, next } = await list({ planId: 'plan', serviceId: 'nobody', examine: 10 })
          expect([items, next !== undefined]).toEqual([[], true])
        }
      })
      const pages = profile.filter(({ planSummary = '' }) => planSummary.includes('listed.plan'))
      expect(pages).toHaveLength(2 * lists.length)
      for (const { docsExamined, keysExamined } of pages)
        expect(Math.max(docsExamined ?? 0, keysExamined ?? 0)).toBeLessThanOrEqual(12)
    })
  })

  it('asks a majority for every answer, whatever the URL says', async () => {
    const lax = server().url.replace('?', '?w=0&journal=false&readConcernLevel=local&readPreference=secondary&')
    await withStores(
      server(),
      1,
      async ([store], database) => {
        if (store === undefined) throw new Error('no store')
        await provision(store, 'i')
        const lease = leaseOf(await claimOne(store))
        const profile = await profiled(server(), database, async () => {
          await store.checkpoint(lease, { description: 'd' })
          await store.instance('i')
          await finish(store, lease)
        })
        const concerns = profile
          .flatMap(({ command }) => [command.writeConcern, command.readConcern])
          .filter(concern => concern !== undefined)
        expect(concerns).toContainEqual(expect.objectContaining({ w: 'majority', j: true }))
        expect(concerns).toContainEqual({ level: 'majority' })
        expect(concerns).toContainEqual(expect.objectContaining({ level: 'snapshot' }))
        expect(concerns.filter(({ w, level }) => w === 0 || level === 'local')).toEqual([])
      },
      { url: lax },
    )
  })

  it('goes by the server’s clock', async () => {
    await withStores(server(), 1, async ([store]) => {
      if (store === undefined) throw new Error('no store')
      const clock = () =>
        withClient(server(), async client => Number((await client.db().command({ hello: 1 })).localTime))
      const before = await clock()
      const seen = await store.accept({ instanceId: 'i' }, ({ now }) => ({ answer: now }))
      await provision(store, 'i')
      const { operation } = await claimOne(store)
      const after = await clock()
      expect(seen).toBeGreaterThanOrEqual(before)
      expect(operation.leaseUntil).toBeGreaterThanOrEqual(seen + leaseTime)
      expect(operation.leaseUntil).toBeLessThanOrEqual(after + leaseTime)
    })
  })

  it('is named by its hosts and its database, and keeps brokers of other schemas apart', async () => {
    await withStores(server(), 1, async ([store], database) => {
      if (store === undefined) throw new Error('no store')
      expect(store.name).toMatch(new RegExp(`^mongodb://127\\.0\\.0\\.1:\\d+/${database}$`))
      const other = await openMongoStore({ url: server().url, database, schema: 'other' })
      await provision(store, 'i')
      expect([await other.instance('i'), (await other.claim('w', 5, leaseTime)).claims]).toEqual([undefined, []])
      await other.close()
    })
  })
})

/** What the index begins with, as the words of list-queries.ts; all of the text where it is none of them. */
function leadIn(walked: string): string {
  const field = /^purser_\w+ IXSCAN \{ ([\w.]+): 1/.exec(walked)?.[1]
  return (field && leads[field]) ?? walked
}

const leads: Readonly<Record<string, Lead>> = {
  'listed.createdAt': 'time',
  'listed.acceptedAt': 'time',
  'acted.at': 'time',
  finishedAt: 'finished',
  'listed.expiresAt': 'expires',
  instance: 'instance',
  dueAt: 'active',
  state: 'failed',
  'listed.service': 'service',
  'listed.plan': 'plan',
  'listed.platform': 'platform',
  'listed.revision': 'revision',
  phase: 'phase',
  'listed.usable': 'unusable',
  'listed.action': 'action',
  'listed.step': 'step',
  'listed.fingerprint': 'error',
  'acted.by': 'by',
  'acted.verb': 'verb',
}

/** The statements on the ledger's collections that the calls lead to. */
function profiled(server: MongoServer, database: string, calls: () => Promise<void>): Promise<readonly Profiled[]> {
  return withClient(server, async client => {
    const db = client.db(database)
    await db.command({ profile: 2 })
    await calls()
    await db.command({ profile: 0 })
    return db
      .collection<Profiled>('system.profile')
      .find({ ns: /purser_/ })
      .toArray()
  })
}

/** Many neighbours of every kind, none of which the calls are about. */
/** A few at a time: the store gives up what a slow machine does not get done in time. */
async function fill(store: Store): Promise<void> {
  const atOnce = 20
  for (let from = 0; from < crowd; from += atOnce)
    await Promise.all(Array.from({ length: atOnce }, (_, index) => addNeighbour(store, `neighbour ${from + index}`)))
}

async function addNeighbour(store: Store, id: string): Promise<void> {
  await standing(store, id, { observeAt: far })
  await bind(store, id, 'b', { notBefore: far, drains: 'something' })
  await store.accept({ instanceId: id }, () => ({
    answer: 0,
    change: {
      bindings: [bindingRow(id, 'old', { phase: 'deleted', deletedAt: far })],
      // The latest one of a live instance, which every clean-up has to leave, and one that is too young for it.
      operations: [
        operationRow(`${id}:provision`, id, { state: 'succeeded', finishedAt: 1 }),
        operationRow(`${id}:update`, id, { state: 'succeeded', finishedAt: far }),
      ],
      history: [{ at: 1, type: 'accepted', instanceId: id }],
    },
  }))
}

async function callEverything(store: Store): Promise<void> {
  await provision(store, 'i')
  const lease = leaseOf(await claimOne(store))
  await store.renew([lease, { ...lease, fence: 0 }], leaseTime)
  await store.checkpoint(lease, { step: stepRow('one'), state: { a: 1 } })
  await store.share(lease, 'key', 'acquire')
  await store.share(lease, 'key', 'settle')
  await store.park(lease, { until: 0 })
  const again = leaseOf(await claimOne(store))
  await supersede(store, 'i', 'delete')
  await store.handBack(again)
  await finish(store, leaseOf(await claimOne(store)))
  await bind(store, 'i', 'b')
  const bound = leaseOf(await claimOne(store))
  await store.checkpoint(bound, { state: { b: 1 } })
  await finish(store, bound)
  await store.accept({ instanceId: 'i', bindingId: 'b', predecessorId: 'p' }, () => ({
    answer: 0,
    change: {
      instance: instanceRow('i', { observeAt: 1 }),
      forget: ['i:provision'],
      history: [{ at: 1, type: 'healed', instanceId: 'i' }],
    },
  }))
  await store.claim('w', 5, leaseTime)
  await store.instance('i')
  await store.binding('i', 'b')
  await store.bindings('i')
  await store.operation('delete')
  await store.steps('delete')
  await store.history('i')
  await store.putBulletin({ kind: 'worker', key: 'w', doc: {}, keepFor: 1_000 })
  await store.bulletins('worker')
  await store.listActs()
  await store.claimants('key', 5)
  await store.dueForObservation(5)
  await store.dueForExpiry(5)
  await store.backlog(5)
  await store.ping()
  await upkeep(store)
  await changeRegistries(store)
}

async function upkeep(store: Store): Promise<void> {
  for (const owner of ['v', 'w']) await store.takeName({ name: 'n', owner, silence: owner === 'v' ? 0 : 1 })
  await store.takeName({ name: 'n', owner: 'x', silence: 0 })
  await store.renewName('n', 'x')
  await store.releaseName('n', 'x')
  const lease = await store.takeChore({ name: 'sweep', dueAt: 1, owner: 'w', leaseTime })
  if (lease === undefined) throw new Error('the chore was not to be had')
  await store.takeChore({ name: 'sweep', dueAt: 1, owner: 'w', leaseTime })
  await store.renewChore(lease, leaseTime)
  await store.finishChore(lease, { ok: true, message: 'm' })
  await store.chores()
  await store.accept({ instanceId: 'home' }, () => ({
    answer: 0,
    change: {
      instance: instanceRow('home', { phase: 'ready' }),
      bindings: [bindingRow('home', 'b', { phase: 'deleted', deletedAt: 1 })],
      operations: [operationRow('home:bind', 'home', { bindingId: 'b', state: 'succeeded', finishedAt: 1 })],
    },
  }))
  await store.accept({ instanceId: 'gone' }, () => ({
    answer: 0,
    change: {
      instance: instanceRow('gone', { phase: 'deleted', deletedAt: 1 }),
      bindings: [bindingRow('gone', 'b', { phase: 'deleted', deletedAt: 1 })],
      operations: [operationRow('gone:provision', 'gone', { state: 'failed', finishedAt: 1 })],
      history: [{ at: 1, type: 'failed', instanceId: 'gone' }],
    },
  }))
  const wanted = { states: ['succeeded', 'failed', 'superseded'], before: far - 1, max: 10 } as const
  expect(await store.cleanUp({ ...wanted, of: 'instances' })).toBe(1)
  expect(await store.cleanUp({ ...wanted, of: 'bindings' })).toBe(1)
  expect(await store.purge(far - 1, 10)).toBe(2)
}

async function changeRegistries(store: Store): Promise<void> {
  await change(store, {
    insertRevisions: [revisionRow('r'), revisionRow('s')],
    putServices: [serviceRow('service', 's', 1)],
    putRegistries: [registryRow('a')],
  })
  await pin(store, 'pinned', { revisionId: 'r', nextRevisionId: 's' })
  await standing(store, 'pinned', { revisionId: 'r' })
  await store.catalog((await store.catalog())?.version)
  await store.registries()
  expect(await store.revisionUses()).toHaveLength(1)
  const everything = { deleteServices: ['service'], deleteRevisions: ['r', 's'] }
  await change(store, everything)
  await standing(store, 'pinned')
  await change(store, { ...everything, deleteRegistries: ['a'] })
  expect(await store.catalog()).toMatchObject({ services: [], revisions: [] })
}

function shown({ op, ns, planSummary, docsExamined, keysExamined, command }: Profiled): string {
  return `${op} ${ns} ${planSummary} docs ${docsExamined} keys ${keysExamined} ${JSON.stringify(command).slice(0, 300)}`
}
