/** The same tests on every store that several replicas may share, in virtual time, each replica with connections of its own. */
import { describe, onTestFinished } from 'vitest'
import type { Service } from '../../src/index.ts'
import { createMemoryStore } from '../../src/store/memory/index.ts'
import { openWith } from '../../src/store/mongodb/open.ts'
import { openPostgresStore } from '../../src/store/postgres/index.ts'
import type { Store } from '../../src/store.ts'
import type { TestBrokerOptions } from '../../src/testing/test-broker.ts'
import type { VirtualClock } from '../../src/testing/virtual-clock.ts'
import { createWorld, type Process, type World } from '../engine/world.ts'
import type { MongoServer } from '../external/mongodb.ts'
import type { PostgresServer } from '../external/postgres.ts'
import { describeSharedMongo, takeDatabase } from '../store/mongodb-subject.ts'
import { describeSharedPostgres, patient, takeLedger } from '../store/postgres-subject.ts'
import { createPacedClock } from './paced-clock.ts'

export interface ReplicaWorld extends World {
  /** One more process of the broker; `clock` is its own watch. */
  bootReplica(options?: { readonly clock?: VirtualClock; readonly wrap?: (store: Store) => Store }): Promise<Process>
}

export type MakeWorld = (
  options: Partial<TestBrokerOptions> & { readonly service: Partial<Service> },
) => Promise<ReplicaWorld>

export function describeWorlds(title: string, tests: (makeWorld: MakeWorld) => void): void {
  describe(`${title}: memory`, () => tests(options => makeWorld(options, memoryLedger)))
  describeSharedPostgres(`${title}: postgres`, server =>
    tests(options => makeWorld(options, clock => postgresLedger(server, clock))),
  )
  describeSharedMongo(`${title}: mongodb`, server =>
    tests(options => makeWorld(options, clock => mongoLedger(server(), clock))),
  )
}

interface Ledger {
  open(): Promise<Store>
  move(now: number): Promise<unknown>
}

async function makeWorld(
  options: Parameters<MakeWorld>[0],
  makeLedger: (clock: VirtualClock) => Promise<Ledger>,
): Promise<ReplicaWorld> {
  let move: Ledger['move'] = () => Promise.resolve()
  const calls = countCalls()
  const clock = createPacedClock({ move: now => move(now), underWay: calls.underWay })
  const ledger = await makeLedger(clock)
  move = ledger.move
  const open = async () => {
    const store = calls.wrap(await ledger.open())
    onTestFinished(() => store.close())
    return store
  }
  const world = createWorld({ ...options, clock, store: await open() })
  return {
    ...world,
    async bootReplica({ wrap = (store: Store) => store, clock: own } = {}) {
      const store = wrap(world.watch.wrap(await open()))
      const process = await world.boot({ store, clock: own })
      onTestFinished(process.crash)
      return process
    },
  }
}

/** All of them, whatever they are for: a call that was forgotten would let the time pass while it is under way. */
function countCalls() {
  let underWay = 0
  const count =
    (method: (...call: unknown[]) => unknown) =>
    (...call: unknown[]) => {
      const answer = method(...call)
      if (!(answer instanceof Promise)) return answer
      underWay += 1
      return answer.finally(() => {
        underWay -= 1
      })
    }
  return {
    underWay: () => underWay,
    wrap: (store: Store): Store => {
      const counted = Object.entries(store).map(([name, of]) => [name, typeof of === 'function' ? count(of) : of])
      return { ...store, ...Object.fromEntries(counted) }
    },
  }
}

async function memoryLedger(clock: VirtualClock): Promise<Ledger> {
  const store = createMemoryStore({ clock })
  return { open: async () => ({ ...store, close: async () => {} }), move: async () => {} }
}

async function postgresLedger({ url }: Pick<PostgresServer, 'url'>, clock: VirtualClock): Promise<Ledger> {
  const { schema, move, giveBack } = await takeLedger(url)
  onTestFinished(giveBack)
  await move(clock.now())
  return {
    open: () => openPostgresStore({ url, schema, ...patient }),
    move,
  }
}

async function mongoLedger({ url }: Pick<MongoServer, 'url'>, clock: VirtualClock): Promise<Ledger> {
  const database = takeDatabase({ url })
  return {
    open: () => openWith({ url, database }, () => ({ $literal: clock.now() })),
    move: async () => {},
  }
}
