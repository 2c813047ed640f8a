import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { applyMigrations, openPostgresStore } from '../../src/store/postgres/index.ts'
import { type Lease, type Store, StoreUnavailableError } from '../../src/store.ts'
import { claimOne, finish, leaseOf, provision, stepRow } from '../../src/testing/store-contract/rows.ts'
import { whyNoPostgres } from '../external/postgres.ts'
import { connect } from '../external/postgres-connection.ts'
import { type PostgresPair, startPair } from '../external/postgres-pair.ts'
import { createLog } from '../replicas/broker.ts'
import { startProxy } from './postgres-proxy.ts'
import { newSchema, openStore, patient } from './postgres-subject.ts'

const reason = await whyNoPostgres()

describe.runIf(reason !== undefined)('a PostgreSQL with a standby', () => {
  it.skip(`no PostgreSQL: ${reason}`)
})

describe.runIf(reason === undefined)('a URL with several servers', () => {
  let pair: PostgresPair
  beforeAll(async () => {
    pair = await startPair({ synchronous: false })
  })
  afterAll(() => pair?.stop())

  it.each(['', '?target_session_attrs=read-write', '?target_session_attrs=primary'])(
    'leads to the one that can be written, wherever it stands: %s',
    async options => {
      const schema = newSchema()
      expect(await applyMigrations({ url: pair.url + options, schema, ...patient })).toBeGreaterThan(0)
      const store = await openStore({ url: pair.url + options, schema })
      await provision(store, 'i')
      expect(await finish(store, leaseOf(await claimOne(store)))).toBe(true)
      const hosts = [pair.standby, pair.primary].map(({ url }) => new URL(url).host)
      expect(store.name).toBe(`postgres://${hosts.join(',')}/postgres (schema ${schema})`)
    },
  )

  it.each(['any', 'read-only', 'standby', 'prefer-standby'])('refuses to look for another kind: %s', async target => {
    const url = `${pair.url.replace('postgres@', 'postgres:hunter2@')}?target_session_attrs=${target}`
    const refused = openPostgresStore({ url, ...patient })
    await expect(refused).rejects.toMatchObject({ failure: 'bad-url' })
    await expect(refused).rejects.toThrow(/target_session_attrs must be read-write or primary/)
    await expect(refused).rejects.not.toThrow(/hunter2/)
  })

  it('says of each why it cannot be used', async () => {
    const refused = openPostgresStore({ url: pair.standby.url.replace('@', '@127.0.0.1:1,'), ...patient })
    await expect(refused).rejects.toMatchObject({ failure: 'unreachable' })
    await expect(refused).rejects.toThrow(/ECONNREFUSED 127.0.0.1:1, 127.0.0.1:\d+ is a standby, and read-only/)
    const alone = openPostgresStore({ url: pair.standby.url, ...patient })
    await expect(alone).rejects.toMatchObject({ failure: 'unsuitable-server' })
    await expect(alone).rejects.toThrow(/is a standby, and read-only\. Name the primary server/)
  })

  it('gives up on one that says nothing after the time for connecting', async () => {
    const mute = await startProxy(pair.primary.url)
    mute.freeze()
    const url = pair.url.replace('@', `@${new URL(mute.url).host},`)
    const store = await openStore({ url, schema: newSchema(), connectTimeout: 1_000 })
    await provision(store, 'i')
  })

  it('leaves one that has become read-only under its connections', async () => {
    const store = await openStore({ url: pair.primary.url, schema: newSchema() })
    await provision(store, 'i')
    const admin = await connect(pair.primary.url)
    onTestFinished(() => admin.end())
    const reload = (setting: string) =>
      admin.query({ text: `alter system ${setting}` }).then(() => admin.query({ text: 'select pg_reload_conf()' }))
    await admin.query({ text: 'set default_transaction_read_only = off' })
    await reload('set default_transaction_read_only = on')
    await expect(untilRefused(store)).resolves.toBeInstanceOf(StoreUnavailableError)
    // Nobody uses those connections again: through an address that moved, new ones lead elsewhere.
    await expect(store.ping()).rejects.toThrow('is read-only: name the primary server')
    await reload('reset default_transaction_read_only')
    await untilItWorks(store)
    await provision(store, 'after')
  })
})

describe.runIf(reason === undefined)('a failover of PostgreSQL', () => {
  it.each(['kill', 'fast'] as const)('replicas find the new primary by themselves: %s', async mode => {
    const pair = await startPair({ synchronous: true })
    onTestFinished(() => pair.stop())
    const schema = newSchema()
    const { log, observer } = createLog()
    const one = await openStore({ url: pair.url, schema, observer })
    const other = await openStore({ url: pair.url, schema, observer })
    for (let index = 0; index < 20; index += 1) await provision(one, `before${index}`)
    const lease = leaseOf(await claimOne(other))

    await pair.primary.down(mode)
    await expect(one.claim('w', 1, 1_000)).rejects.toBeInstanceOf(StoreUnavailableError)
    await pair.promote()
    await untilItWorks(one)
    expect(await finish(other, lease)).toBe(true)
    expect((await one.claim('w', 50, 60_000)).claims).toHaveLength(19)
    // Those who listen are there again, too.
    await expect(hears(one, other)).resolves.toBeUndefined()
    const cli = await applyMigrations({ url: pair.url, schema, ...patient })
    expect(cli).toBe(0)
    expect(log.filter(line => line.includes('went back'))).toEqual([])
  })

  it('one that has vanished costs each caller one wait, not one for each connection', async () => {
    const pair = await startPair({ synchronous: true })
    onTestFinished(() => pair.stop())
    const proxy = await startProxy(pair.primary.url)
    const url = proxy.url.replace('@', `@${new URL(pair.standby.url).host},`)
    const limits = { connectTimeout: 1_000, statementTimeout: 2_000 }
    const store = await openStore({ url, schema: newSchema(), ...limits })
    // As many connections as the pool may have.
    await Promise.all(Array.from({ length: 40 }, (_, index) => provision(store, `i${index}`)))
    proxy.freeze()
    await pair.primary.down('kill')
    await pair.promote()
    await expect(store.claim('w', 1, 1_000)).rejects.toBeInstanceOf(StoreUnavailableError)
    expect((await store.claim('w', 50, 60_000)).claims).toHaveLength(40)
  })
})

describe.runIf(reason === undefined)('a standby of PostgreSQL that is behind', () => {
  let pair: PostgresPair
  let told: readonly string[]
  /** It knows of writes that the standby does not have, and holds leases on both sides of the gap. */
  let replica: Store
  let before: Lease
  let lost: Lease
  let schema: string

  beforeAll(async () => {
    pair = await startPair({ synchronous: false })
    schema = newSchema()
    const { log, observer } = createLog()
    told = log
    replica = await openPostgresStore({ url: pair.url, schema, observer, ...patient })
    await provision(replica, 'before')
    before = leaseOf(await claimOne(replica))
    await provision(replica, 'due')
    await pair.detach()
    await replica.checkpoint(before, { step: stepRow('lost'), state: { id: 'lost' } })
    lost = leaseOf(await claimOne(replica))
    await provision(replica, 'lost')
  })
  afterAll(async () => {
    await replica?.close()
    await pair?.stop()
  })

  it('is noticed after a failover, by whoever knows what is lost, also when others have written since', async () => {
    const listensAgain = new Promise<void>(resolve => onTestFinished(replica.onWakeUp(() => resolve())))
    await pair.primary.down('kill')
    await pair.promote()
    // That is a transaction, which has a number that something lost may have had.
    await listensAgain
    expect(await isNoted(pair.standby.url, schema)).toBe(true)
    const other = await openStore({ url: pair.url, schema })
    for (let index = 0; index < 30; index += 1) await provision(other, `since${index}`)
    const again = leaseOf(await claimOne(other))
    // Else both would hold it.
    expect(again.operationId).toBe(lost.operationId)
    expect(again.fence).toBeGreaterThan(lost.fence)
    expect(told.filter(line => line.includes('went back'))).toEqual([])

    // What was begun before is not done: it may stand on what is lost.
    await expect(replica.checkpoint(before, { step: stepRow('next') })).rejects.toBeInstanceOf(StoreUnavailableError)
    const line = 'error the ledger went back in time: what was written last is lost, compare it with your backends'
    expect(told.filter(line => line.includes('went back'))).toEqual([line])
    expect(await replica.instance('lost')).toBeUndefined()

    await other.close()
  })

  it('ends every lease from before, so that its operation goes on from what the ledger has', async () => {
    for (const lease of [before, lost]) {
      expect(await replica.renew([lease], 60_000)).toEqual([])
      expect(await replica.checkpoint(lease, { description: 'late' })).toBe(false)
      expect(await replica.park(lease, { until: 1 })).toBe(false)
      expect(await finish(replica, lease)).toBe(false)
      expect(await replica.share(lease, 'key', 'acquire')).toBeUndefined()
      await replica.handBack(lease)
    }
    expect(await replica.steps(before.operationId)).toEqual([])
    const state = (await replica.operation(before.operationId))?.state
    expect(state).toBe('running')
    const next = leaseOf(await claimOne(replica))
    expect(await finish(replica, next)).toBe(true)
    expect(told.filter(line => line.includes('went back'))).toHaveLength(1)
  })
})

/** Whether somebody has noted the server, as it runs now. */
async function isNoted(url: string, schema: string): Promise<boolean> {
  const connection = await connect(url)
  const text = `select count(*) = 1 as noted from "${schema}".server where started_at = pg_postmaster_start_time()`
  const { rows } = await connection.query({ text }).finally(() => connection.end())
  return rows[0]?.noted === true
}

/** Anything that writes, until it is refused. */
async function untilRefused(store: Store): Promise<unknown> {
  for (let index = 0; ; index += 1) {
    const refusal = await provision(store, `refused${index}`).then(
      () => undefined,
      (error: unknown) => error,
    )
    if (refusal !== undefined) return refusal
  }
}

async function untilItWorks(store: Store): Promise<void> {
  for (;;) {
    const works = await store.ping().then(
      () => true,
      () => false,
    )
    if (works) return
    await pause()
  }
}

/** What one writes wakes the other up. */
async function hears(one: Store, other: Store): Promise<void> {
  let heard = false
  onTestFinished(other.onWakeUp(() => (heard = true)))
  for (let index = 0; !heard; index += 1) {
    await provision(one, `heard${index}`)
    await pause()
  }
}

function pause(): Promise<void> {
  return new Promise(resolve => setTimeout(resolve, 20))
}
