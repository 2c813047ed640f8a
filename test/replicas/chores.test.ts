import { expect, it, onTestFinished } from 'vitest'
import { type Clock, systemClock } from '../../src/clock.ts'
import { startChores } from '../../src/engine/chores.ts'
import { createSchedule } from '../../src/engine/schedule.ts'
import { silent } from '../../src/observer.ts'
import { openMongoStore } from '../../src/store/mongodb/index.ts'
import { openPostgresStore } from '../../src/store/postgres/index.ts'
import type { Store } from '../../src/store.ts'
import { describeSharedMongo, newDatabase } from '../store/mongodb-subject.ts'
import { describeSharedPostgres, newSchema, patient } from '../store/postgres-subject.ts'

const hour = 3_600_000
const skewed = (ms: number): Clock => ({ now: () => systemClock.now() + ms, after: systemClock.after })
const schedule = createSchedule('* * * * * *', 'UTC')

/** Replicas with clocks and connections of their own; the first of them dies in the middle of a run. */
function testChores(newLedger: () => () => Promise<Store>): void {
  it('ends each period once, by the server’s clock, and takes over from a replica that died', async () => {
    const open = newLedger()
    const ended: number[] = []
    const start = async (owner: string, clock: Clock, run: () => Promise<undefined>) => {
      const store = await open()
      onTestFinished(() => store.close())
      const chores = startChores({
        store: noting(store, ended),
        clock,
        observer: silent,
        owner,
        leaseTime: 2_000,
        tasks: [{ name: 'chore', schedule, run }],
      })
      return { store, chores }
    }
    let died = () => {}
    const death = new Promise<void>(resolve => {
      died = resolve
    })
    const { store } = await start('dead', skewed(hour), () => {
      died()
      return new Promise<never>(() => {})
    })
    await death
    for (const ms of [-hour, 0, hour]) {
      const { chores } = await start(`${ms}`, skewed(ms), async () => undefined)
      onTestFinished(() => chores.stop())
    }
    while (ended.length < 5) await new Promise(resolve => setTimeout(resolve, 100))
    expect(new Set(ended).size).toBe(ended.length)
    const { now } = await store.chores()
    for (const dueAt of ended) expect(Math.abs(now - dueAt)).toBeLessThan(hour / 2)
  })
}

/** Notes the periods whose end was written. The dead one renews nothing. */
function noting(store: Store, ended: number[]): Store {
  const periods = new Map<number, number>()
  return {
    ...store,
    async takeChore(taking) {
      const lease = await store.takeChore(taking)
      if (lease !== undefined) periods.set(lease.fence, taking.dueAt)
      return lease
    },
    renewChore: (lease, leaseTime) =>
      ended.length === 0 ? new Promise<never>(() => {}) : store.renewChore(lease, leaseTime),
    async finishChore(lease, result) {
      const written = await store.finishChore(lease, result)
      if (written) ended.push(periods.get(lease.fence) ?? Number.NaN)
      return written
    },
  }
}

describeSharedPostgres('chores over several replicas on PostgreSQL', server =>
  testChores(() => {
    const schema = newSchema()
    return () => openPostgresStore({ url: server.url, schema, clock: systemClock, ...patient })
  }),
)

describeSharedMongo('chores over several replicas on MongoDB', server =>
  testChores(() => {
    const database = newDatabase()
    return () => openMongoStore({ url: server().url, database })
  }),
)
