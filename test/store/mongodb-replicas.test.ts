import { expect, it } from 'vitest'
import { type Claim, type Store, StoreUnavailableError, type WakeUp } from '../../src/store.ts'
import {
  claimOne,
  finish,
  instanceRow,
  leaseOf,
  leaseTime,
  operationRow,
  provision,
  standing,
  supersede,
} from '../../src/testing/store-contract/rows.ts'
import { describeSharedMongo, withClient, withStores } from './mongodb-subject.ts'

describeSharedMongo('mongodb: replicas on one database', server => {
  it('accept one of fifty equal requests, and all get its operation', async () => {
    await withStores(server(), 3, async stores => {
      const answers = await Promise.all(times(50, index => put(pick(stores, index), 'i', `o${index}`)))
      expect(new Set(answers).size).toBe(1)
      const rows = await Promise.all(times(50, index => pick(stores, 0).operation(`o${index}`)))
      expect(rows.filter(row => row !== undefined)).toHaveLength(1)
    })
  })

  it('let one of thirty through that do not look first', async () => {
    await withStores(server(), 3, async stores => {
      const change = (index: number) => ({
        instance: instanceRow('i', { updatedAt: index }),
        operations: [operationRow(`o${index}`, 'i')],
        history: [{ at: index, type: 'accepted', instanceId: 'i' } as const],
      })
      const outcomes = await Promise.allSettled(
        times(30, index =>
          pick(stores, index).accept({ instanceId: 'i' }, () => ({ answer: index, change: change(index) })),
        ),
      )
      const winners = outcomes.flatMap(outcome => (outcome.status === 'fulfilled' ? [outcome.value] : []))
      expect(winners).toHaveLength(1)
      expect((await pick(stores, 1).history('i')).map(({ at }) => at)).toEqual(winners)
      expect((await pick(stores, 2).instance('i'))?.updatedAt).toBe(winners[0])
    })
  })

  it('lose no update of one row', async () => {
    await withStores(server(), 3, async stores => {
      await standing(pick(stores, 0), 'i', { updatedAt: 0 })
      await Promise.all(
        times(30, index =>
          pick(stores, index).accept({ instanceId: 'i' }, ({ instance }) => ({
            answer: 0,
            change: { instance: instanceRow('i', { updatedAt: (instance?.updatedAt ?? 0) + 1 }) },
          })),
        ),
      )
      expect((await pick(stores, 0).instance('i'))?.updatedAt).toBe(30)
    })
  })

  it('never claim one operation twice, and never use a fence twice', async () => {
    await withStores(server(), 3, async stores => {
      await Promise.all(times(120, index => provision(pick(stores, index), `i${index}`)))
      const rounds = await Promise.all(stores.map((store, index) => claimAll(store, `w${index}`)))
      const claims = rounds.flat()
      expect(new Set(claims.map(({ operation }) => operation.id)).size).toBe(120)
      expect(claims).toHaveLength(120)
      expect(new Set(claims.map(({ operation }) => operation.fence)).size).toBe(120)
      for (const { operation } of claims) expect(await pick(stores, 0).operation(operation.id)).toEqual(operation)
      expect(claims.every(({ operation }) => operation.losses === 0 && operation.fence > 0)).toBe(true)
    })
  })

  it('finish or supersede, never both', async () => {
    await withStores(server(), 3, async stores => {
      await Promise.all(times(20, index => provision(pick(stores, index), `i${index}`)))
      const claims = await claimAll(pick(stores, 0), 'w')
      const outcomes = await Promise.all(
        claims.map(claim =>
          Promise.all([
            finish(pick(stores, 0), leaseOf(claim)),
            supersede(pick(stores, 1), claim.instance.id, `${claim.instance.id}:delete`),
          ]),
        ),
      )
      for (const [finished, superseded] of outcomes) expect(finished).toBe(!superseded)
    })
  })

  it('let a DELETE win against a claim that is under way, and its operation run at once', async () => {
    await withStores(server(), 2, async ([one, other]) => {
      if (one === undefined || other === undefined) throw new Error('two stores')
      await Promise.all(times(20, index => provision(one, `i${index}`)))
      const [claimed] = await Promise.all([
        claimAll(one, 'w'),
        ...times(20, index => supersede(other, `i${index}`, `i${index}:delete`)),
      ])
      // A claim that was handed out is acknowledged by its worker, every other one by the store.
      for (const claim of claimed.filter(({ operation }) => operation.action === 'provision'))
        await one.handBack(leaseOf(claim))
      const rest = await claimAll(other, 'v')
      const deletions = [...claimed, ...rest].filter(({ operation }) => operation.action === 'deprovision')
      expect(new Set(deletions.map(({ instance }) => instance.id)).size).toBe(20)
    })
  })

  it('create a shared resource once', async () => {
    await withStores(server(), 3, async stores => {
      await Promise.all(times(9, index => provision(pick(stores, index), `i${index}`)))
      const leases = (await claimAll(pick(stores, 0), 'w')).map(leaseOf)
      const answers = await Promise.all(
        leases.map((lease, index) => pick(stores, index).share(lease, 'key', 'acquire')),
      )
      expect(answers.toSorted()).toEqual([...times(8, () => 'busy'), 'do'])
      const released = await Promise.all(
        leases.map((lease, index) => pick(stores, index).share(lease, 'key', 'release')),
      )
      expect(released.filter(answer => answer === 'ready').length).toBeGreaterThanOrEqual(7)
    })
  })

  it('wake each other, and tell whose operation has ended', async () => {
    await withStores(server(), 2, async ([one, other]) => {
      if (one === undefined || other === undefined) throw new Error('two stores')
      const heard: WakeUp[] = []
      let wake = () => {}
      other.onWakeUp(wakeUp => {
        heard.push(wakeUp)
        wake()
      })
      const until = async (found: () => boolean, again: () => Promise<unknown>) => {
        while (!found()) {
          const woken = new Promise<void>(resolve => {
            wake = resolve
          })
          await again()
          if (!found()) await Promise.race([woken, new Promise(resolve => setTimeout(resolve, 500))])
        }
      }
      // The first may be written before the other listens: then another one follows.
      let count = 0
      await until(
        () => heard.some(({ type }) => type === 'work'),
        () => provision(one, `i${count++}`),
      )
      const claim = await claimOne(one)
      await finish(one, leaseOf(claim))
      await until(
        () => heard.some(({ type }) => type === 'finished'),
        async () => {},
      )
      expect(heard.find(({ type }) => type === 'finished')).toEqual({
        type: 'finished',
        operationId: claim.operation.id,
      })
    })
  })

  it('go on claiming and renewing while a transaction that was cut off holds one instance and two operations', async () => {
    await withStores(
      server(),
      1,
      async ([store], database) => {
        if (store === undefined) throw new Error('no store')
        await Promise.all(times(6, index => provision(store, `i${index}`)))
        const held = (await store.claim('w', 3, leaseTime)).claims.map(leaseOf)
        await withClient(server(), async client => {
          const session = client.startSession()
          session.startTransaction()
          const operations = client.db(database).collection('purser_operation')
          const documents = await operations.find({ state: { $in: ['queued', 'running'] } }).toArray()
          const ids = ['queued', 'running'].map(state => documents.find(document => document.state === state)?._id)
          await operations.updateMany(
            { _id: { $in: ids.filter(id => id !== undefined) } },
            { $inc: { x: 1 } },
            { session },
          )
          await client
            .db(database)
            .collection('purser_instance')
            .updateOne({ id: 'i0' }, { $inc: { lock: 1 } }, { session })
          await expect(standing(store, 'i0')).rejects.toThrow(StoreUnavailableError)
          await standing(store, 'new')
          expect(await store.renew(held, leaseTime)).toHaveLength(2)
          expect((await store.claim('w', 5, leaseTime)).claims).toHaveLength(2)
          await session.abortTransaction()
          await session.endSession()
        })
        expect(await store.renew(held, leaseTime)).toHaveLength(3)
        expect((await store.claim('w', 5, leaseTime)).claims).toHaveLength(1)
      },
      { statementTimeout: '3s' },
    )
  })
})

function times<Result>(count: number, make: (index: number) => Result): Result[] {
  return Array.from({ length: count }, (_, index) => make(index))
}

function pick(stores: readonly Store[], index: number): Store {
  const store = stores[index % stores.length]
  if (store === undefined) throw new Error('no store')
  return store
}

/** Accepts unless something is under way, as a PUT does. */
function put(store: Store, id: string, operationId: string): Promise<string> {
  return store.accept({ instanceId: id }, ({ operation }) => {
    if (operation !== undefined) return { answer: operation.id }
    return { answer: operationId, change: { instance: instanceRow(id), operations: [operationRow(operationId, id)] } }
  })
}

/** In small bites, until nothing is due. */
async function claimAll(store: Store, owner: string): Promise<Claim[]> {
  const all: Claim[] = []
  for (;;) {
    const { claims, nextAt, now } = await store.claim(owner, 7, leaseTime)
    all.push(...claims)
    if (claims.length === 0 && (nextAt === undefined || nextAt > now)) return all
  }
}
