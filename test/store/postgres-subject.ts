/** What the tests of the PostgreSQL store share: one server for each suite, one schema for each test. */
import { afterAll, beforeAll, describe, it, onTestFinished } from 'vitest'
import type { PostgresStoreOptions } from '../../src/store/postgres/index.ts'
import { openPostgresStore } from '../../src/store/postgres/index.ts'
import type { Store } from '../../src/store.ts'
import type { StoreSubject } from '../../src/testing/store-contract.ts'
import { createVirtualClock } from '../../src/testing/virtual-clock.ts'
import { type PostgresServer, startPostgres, whyNoPostgres } from '../external/postgres.ts'
import { connect } from '../external/postgres-connection.ts'
import { newSharedDatabase } from '../external/shared-servers.ts'

const reason = await whyNoPostgres()

/** Runs the tests with a server of their own; shown as skipped, with the reason, where there is none. */
export function describePostgres(title: string, tests: (server: PostgresServer) => void): void {
  describe(title, () => {
    if (reason !== undefined) {
      it.skip(`no PostgreSQL: ${reason}`)
      return
    }
    let started: PostgresServer | undefined
    const server = () => {
      if (started === undefined) throw new Error('the server was not started')
      return started
    }
    beforeAll(async () => {
      started = await startPostgres()
    })
    afterAll(() => started?.stop())
    tests({
      get url() {
        return server().url
      },
      get data() {
        return server().data
      },
      pid: () => server().pid(),
      down: mode => server().down(mode),
      up: () => server().up(),
      restart: mode => server().restart(mode),
      stop: () => server().stop(),
    })
  })
}

/** The same on the server that this process has for many suites, with a database of their own. */
export function describeSharedPostgres(title: string, tests: (server: Pick<PostgresServer, 'url'>) => void): void {
  describe(title, () => {
    if (reason !== undefined) {
      it.skip(`no PostgreSQL: ${reason}`)
      return
    }
    let database: string | undefined
    beforeAll(async () => {
      database = await newSharedDatabase()
    })
    tests({
      get url() {
        if (database === undefined) throw new Error('the database was not made')
        return database
      },
    })
  })
}

let schemas = 0

export function newSchema(): string {
  schemas += 1
  return `test_${schemas}`
}

/** Patient: a noisy machine is not a broken server. */
export const patient = { connectTimeout: 120_000, statementTimeout: 120_000 }

/** Opens a store that is closed when the test ends. */
export async function openStore(options: PostgresStoreOptions): Promise<Store> {
  const store = await openPostgresStore({ ...patient, ...options })
  onTestFinished(() => store.close())
  return store
}

/** From here on the ledger's clock stands still: its function now_ms reads a table instead of the server's clock. */
export async function stopClock(url: string, schema: string, start: number) {
  const admin = await connect(url)
  await admin.query({
    text: `create table ${schema}.test_clock (now double precision not null);
      insert into ${schema}.test_clock values (${start});
      create or replace function ${schema}.now_ms() returns double precision language sql volatile as
        $$ select now from ${schema}.test_clock $$`,
  })
  return {
    admin,
    move: (now: number) => admin.query({ text: `update ${schema}.test_clock set now = $1`, values: [now] }),
  }
}

/** A ledger whose clock is the suite's. `storeUrl` is another way to the server. */
export async function createSubject(
  { url }: Pick<PostgresServer, 'url'>,
  start?: number,
  storeUrl = url,
): Promise<StoreSubject> {
  const clock = createVirtualClock(start)
  const { schema, move, giveBack } = await takeLedger(url, storeUrl)
  await move(clock.now())
  return {
    durable: true,
    open: () => openPostgresStore({ url: storeUrl, schema, clock, ...patient }),
    clock: {
      now: clock.now,
      async advance(ms) {
        await clock.advance(ms)
        await move(clock.now())
      },
    },
    destroy: giveBack,
  }
}

export interface EmptyLedger {
  readonly schema: string
  /** Its clock stands still. */
  readonly move: (now: number) => Promise<unknown>
  /** When no store has it open any more. */
  readonly giveBack: () => Promise<void>
}

/** By server: the next test takes one of them, since to make a schema takes longer than most tests. */
const emptied = new Map<string, Awaited<ReturnType<typeof createLedger>>[]>()

export async function takeLedger(url: string, storeUrl = url): Promise<EmptyLedger> {
  const ledger = emptied.get(url)?.pop() ?? (await createLedger(url, storeUrl))
  const giveBack = async () => {
    await ledger.empty()
    emptied.set(url, [...(emptied.get(url) ?? []), ledger])
  }
  return { schema: ledger.schema, move: ledger.move, giveBack }
}

async function createLedger(url: string, storeUrl: string) {
  const schema = newSchema()
  const first = await openPostgresStore({ url: storeUrl, schema, ...patient })
  await first.ping()
  await first.close()
  const { admin, move } = await stopClock(url, schema, 0)
  const { rows } = await admin.query({
    text: `select tablename as name from pg_tables where schemaname = $1 and tablename <> 'test_clock'`,
    values: [schema],
  })
  const reset: string[] = []
  for (const { name } of rows) {
    const table = `${schema}.${name}`
    const { rows: before } = await admin.query({ text: `table ${table}` })
    reset.push(`delete from ${table}`)
    if (before.length === 0) continue
    await admin.query({ text: `create table ${table}_before as table ${table}` })
    reset.push(`insert into ${table} table ${table}_before`)
  }
  // Counted from one, as in memory.
  const restart = `alter sequence ${schema}.fence restart`
  await admin.query({ text: restart })
  const empty = ['begin', 'set local session_replication_role = replica', ...reset, restart, 'commit'].join('; ')
  return { schema, move, empty: () => admin.query({ text: empty }) }
}
