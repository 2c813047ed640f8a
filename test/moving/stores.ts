/** The same tests on each of the four stores, in real time. */
import { join } from 'node:path'
import { describe, onTestFinished } from 'vitest'
import { systemClock } from '../../src/clock.ts'
import { createMemoryStore } from '../../src/store/memory/index.ts'
import { openMongoStore } from '../../src/store/mongodb/index.ts'
import { openPostgresStore } from '../../src/store/postgres/index.ts'
import { openSqliteStore } from '../../src/store/sqlite/index.ts'
import type { Store } from '../../src/store.ts'
import type { VirtualClock } from '../../src/testing/virtual-clock.ts'
import { describeSharedMongo, takeDatabase } from '../store/mongodb-subject.ts'
import { describeSharedPostgres, newSchema, patient } from '../store/postgres-subject.ts'
import { testFolder } from '../store/sqlite-drivers.ts'

/** A new and empty store, which is closed when the test ends. */
export type NewStore = () => Promise<Store>

export const newMemory: NewStore = async () => closing(createMemoryStore({ clock: systemClock }))

export const newSqlite: NewStore = async () =>
  closing(await openSqliteStore({ file: join(testFolder(), 'ledger.db'), clock: systemClock }))

export function describeStores(title: string, tests: (newStore: NewStore) => void): void {
  describe(`${title}: memory`, () => tests(newMemory))
  describe(`${title}: sqlite`, () => tests(newSqlite))
  describeSharedPostgres(`${title}: postgres`, server => tests(() => newPostgres(server.url)))
  describeSharedMongo(`${title}: mongodb`, server => tests(() => newMongo(server().url)))
}

export async function newPostgres(url: string): Promise<Store> {
  return closing(await openPostgresStore({ url, schema: newSchema(), ...patient }))
}

export async function newMongo(url: string): Promise<Store> {
  return closing(await openMongoStore({ url, database: takeDatabase({ url }) }))
}

function closing(store: Store): Store {
  onTestFinished(() => store.close())
  return store
}

/** The machine's time, for brokers that a test drives as if it were virtual: what is due is soon there. */
export const realClock: VirtualClock = {
  ...systemClock,
  advance: () => new Promise(resolve => setTimeout(resolve, 5)),
  pending: () => 0,
}

/** Asks until it is so. */
export async function until<Value>(ask: () => Promise<Value | undefined | false>): Promise<Value> {
  for (;;) {
    const value = await ask()
    if (value !== undefined && value !== false) return value
    await new Promise(resolve => setTimeout(resolve, 5))
  }
}
