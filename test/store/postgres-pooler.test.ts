import { expect, it, onTestFinished } from 'vitest'
import { applyMigrations, openPostgresStore } from '../../src/store/postgres/index.ts'
import type { Store } from '../../src/store.ts'
import { claimOne, finish, leaseOf, provision } from '../../src/testing/store-contract/rows.ts'
import { ids, incomplete } from '../engine/world.ts'
import { startPgBouncer } from '../external/pgbouncer.ts'
import { connect } from '../external/postgres-connection.ts'
import { createLog, ended, startReplica, until } from '../replicas/broker.ts'
import { describePooled, transactionMode } from './pooler-subject.ts'
import { newSchema, openStore, patient } from './postgres-subject.ts'

describePooled('PostgreSQL behind PgBouncer in transaction mode', place => {
  it('is shared by more callers than it has connections, and nothing is left in a session', async () => {
    const { log, observer } = createLog()
    const schema = newSchema()
    const open = () => openStore({ url: place().pooler.url, schema, observer })
    const stores = [await open(), await open()]
    const all = (count: number, job: (store: Store, index: number) => Promise<unknown>) =>
      Promise.all(stores.flatMap((store, place) => Array.from({ length: count }, (_, n) => job(store, place + 2 * n))))
    await all(60, (store, index) => provision(store, `i${index}`))
    await all(20, store => store.ping())
    const claims = (await Promise.all(stores.map(store => store.claim('w', 60, 120_000)))).flatMap(
      ({ claims }) => claims,
    )
    expect(claims).toHaveLength(120)
    await all(60, (store, index) => {
      const claim = claims[index]
      if (claim === undefined) throw new Error('there are fewer claims')
      return finish(store, leaseOf(claim))
    })
    expect(log).toEqual([
      'info brought the schema up to date',
      expect.stringMatching(/^warn configuration: a pooler stands before the PostgreSQL database/),
      expect.stringMatching(/^warn configuration: a pooler stands before the PostgreSQL database/),
    ])
    const admin = await connect(place().server.url)
    onTestFinished(() => admin.end())
    const { rows } = await admin.query({
      text: "select query from pg_stat_activity where query ~* '^listen' or query ~ 'pg_notify'",
    })
    expect(rows.filter(({ query }) => !String(query).includes('pg_stat_activity'))).toEqual([])
    expect(await applyMigrations({ url: place().pooler.url, schema, ...patient })).toBe(0)
  })

  it('replicas find the work of others by polling', async () => {
    const schema = newSchema()
    const open = () => openPostgresStore({ url: place().pooler.url, schema, ...patient })
    const { client, store } = await startReplica(open, { service: { async provision() {} } })
    const other = await open()
    onTestFinished(() => other.close())
    const { body } = await client.provision('i', ids, incomplete)
    expect(await ended(client, 'i', body.operation ?? '')).toBe('succeeded')
    // Nobody tells the replica of it.
    await provision(other, 'due')
    await until(async () => (await store.operation('due:provision'))?.state !== 'queued')
  })

  it('is refused where it drops the settings of a connection, with what to do', async () => {
    const plain = await startPgBouncer(place().server.url.replace('postgres@', 'bare@'), transactionMode)
    onTestFinished(() => plain.stop())
    const refused = openPostgresStore({ url: plain.url, schema: newSchema(), ...patient })
    await expect(refused).rejects.toMatchObject({ failure: 'unsuitable-server' })
    await expect(refused).rejects.toThrow(
      "a pooler in between does not pass on the settings of a connection. Give them to the user, and let the pooler connect anew: alter role bare set enable_seqscan = 'off'; alter role bare set enable_bitmapscan = 'off'; alter role bare set enable_hashjoin = 'off'; alter role bare set enable_mergejoin = 'off'; alter role bare set jit = 'off'; alter role bare set plan_cache_mode = 'force_generic_plan'; alter role bare set statement_timeout = '120000';",
    )
  })

  it('is refused where it refuses the settings of a connection, with what to do', async () => {
    const strict = await startPgBouncer(place().server.url, { pool_mode: 'transaction' })
    onTestFinished(() => strict.stop())
    const refused = openPostgresStore({ url: strict.url, schema: newSchema(), ...patient })
    await expect(refused).rejects.toMatchObject({ failure: 'unsuitable-server' })
    await expect(refused).rejects.toThrow(
      /Let the pooler ignore them \(PgBouncer: ignore_startup_parameters = options\)/,
    )
  })

  it('in session mode it works as well, and is used in the same way', async () => {
    const session = await startPgBouncer(place().server.url, { ...transactionMode, pool_mode: 'session' })
    onTestFinished(() => session.stop())
    const store = await openStore({ url: session.url, schema: newSchema(), poolSize: 2 })
    await provision(store, 'i')
    expect(await finish(store, leaseOf(await claimOne(store)))).toBe(true)
  })
})
