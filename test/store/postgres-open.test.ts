import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { inspect } from 'node:util'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openPostgresStore, pendingMigrations } from '../../src/store/postgres/index.ts'
import { migrations } from '../../src/store/postgres/migrations.ts'
import { StoreOpenError } from '../../src/store.ts'
import { provision } from '../../src/testing/store-contract/rows.ts'
import { connect } from '../external/postgres-connection.ts'
import { describePostgres, newSchema, openStore, patient } from './postgres-subject.ts'

describe('openPostgresStore without a server', () => {
  it.each([
    ['postgres://user:hunter2@[nowhere/db', 'bad-url'],
    ['mysql://user:hunter2@host/db', 'bad-url'],
    ['user:hunter2', 'bad-url'],
    ['postgres://user:hunter2@127.0.0.1:1/db', 'unreachable'],
    ['postgres://user:hunter2@no-such-host.invalid/db', 'unreachable'],
  ])('says what is wrong with %s, and no password', async (url, failure) => {
    const error = await failureOf(openPostgresStore({ url }))
    expect(error.failure).toBe(failure)
    expect(inspect(error, { depth: 9 })).not.toContain('hunter2')
  })

  it.each(['', 'Purser', 'a"b', 'pg_mine', '1st', 'a.b', 'x'.repeat(51)])(
    'refuses the schema name "%s"',
    async schema => {
      const opened = openPostgresStore({ url: 'postgres://127.0.0.1:1/db', schema })
      expect((await failureOf(opened)).failure).toBe('bad-schema')
    },
  )

  it('gives up on a server that accepts and never answers', async () => {
    const mute = createServer(() => {}).listen(0, '127.0.0.1')
    await once(mute, 'listening')
    onTestFinished(() => void mute.close())
    const address = mute.address()
    const port = typeof address === 'object' ? address?.port : address
    const opened = openPostgresStore({ url: `postgres://127.0.0.1:${port}/db`, connectTimeout: '200ms' })
    expect((await failureOf(opened)).failure).toBe('unreachable')
  })
})

describePostgres('openPostgresStore', server => {
  it('is named by its server, database and schema, without user and password', async () => {
    const url = new URL(server.url)
    url.password = 'hunter2'
    const store = await openStore({ url: `${url.href}?application_name=mine`, schema: 'named' })
    expect(store.name).toBe(`postgres://${url.host}/postgres (schema named)`)
    await store.ping()
  })

  it('names a database that is not there, and a login that is refused', async () => {
    const gone = await failureOf(openPostgresStore({ url: server.url.replace(/postgres$/, 'nowhere'), ...patient }))
    expect(gone).toMatchObject({ failure: 'refused', message: expect.stringContaining('"nowhere" does not exist') })
    const nobody = openPostgresStore({ url: server.url.replace('postgres@', 'nobody:hunter2@'), ...patient })
    expect(await failureOf(nobody)).toMatchObject({ failure: 'refused' })
  })

  it('uses TLS where the URL asks for it', async () => {
    const error = await failureOf(openPostgresStore({ url: `${server.url}?sslmode=verify-full`, ...patient }))
    expect(error.message).toContain('does not support SSL')
  })

  it('shows the SQL that it would run, and runs just that', async () => {
    const schema = newSchema()
    const pending = await pendingMigrations({ url: server.url, schema })
    expect(pending).toHaveLength(migrations.length + 1)
    expect(pending[0]).toBe(`create schema "${schema}";`)
    const admin = await connect(server.url)
    for (const text of pending) await admin.query({ text })
    await admin.end()
    expect(await pendingMigrations({ url: server.url, schema })).toEqual([])
    await provision(await openStore({ url: server.url, schema }), 'i')
  })

  it('refuses a schema of a newer release, and one of another program', async () => {
    const [newer, foreign] = [newSchema(), newSchema()]
    await (await openPostgresStore({ url: server.url, schema: newer, ...patient })).close()
    const admin = await connect(server.url)
    await admin.query({ text: `insert into ${newer}.migration (number) values (99)` })
    await admin.query({ text: `create schema ${foreign}; create table ${foreign}.theirs (a integer)` })
    const refused = await failureOf(openPostgresStore({ url: server.url, schema: newer, ...patient }))
    expect(refused).toMatchObject({ failure: 'newer-version', message: expect.stringContaining('99') })
    const theirs = await failureOf(openPostgresStore({ url: server.url, schema: foreign, ...patient }))
    expect(theirs.failure).toBe('foreign-schema')
    const { rows } = await admin.query({
      text: `select count(*)::integer as tables from pg_tables where schemaname = '${foreign}'`,
    })
    expect(rows).toEqual([{ tables: 1 }])
    await admin.end()
  })

  it('needs no right to change the schema once it is up to date', async () => {
    const schema = newSchema()
    const url = server.url.replace('postgres@', 'clerk@')
    const admin = await connect(server.url)
    await admin.query({ text: 'create role clerk login' })
    const refused = await failureOf(openPostgresStore({ url, schema, ...patient }))
    expect(refused).toMatchObject({ failure: 'no-rights', message: expect.stringContaining('permission denied') })
    await (await openPostgresStore({ url: server.url, schema, ...patient })).close()
    await admin.query({
      text: `grant usage on schema ${schema} to clerk;
        grant select, insert, update, delete on all tables in schema ${schema} to clerk;
        grant usage on all sequences in schema ${schema} to clerk`,
    })
    await admin.end()
    const store = await openStore({ url, schema })
    await provision(store, 'i')
    expect((await store.claim('w', 1, 1000)).claims).toHaveLength(1)
  })

  it('waits for the disk, and reads what is committed, whatever the defaults of the server are', async () => {
    const schema = newSchema()
    const admin = await connect(server.url)
    await admin.query({
      text: `create role careless superuser login; alter role careless set synchronous_commit = off;
        alter role careless set default_transaction_isolation = 'serializable'`,
    })
    const store = await openStore({ url: server.url.replace('postgres@', 'careless@'), schema })
    await admin.query({
      text: `create or replace function ${schema}.now_ms() returns double precision language sql volatile as $$
        select case when current_setting('synchronous_commit') = 'on'
          and current_setting('transaction_isolation') = 'read committed' then 42 else 0 end $$`,
    })
    await admin.end()
    expect((await store.claim('w', 1, 1000)).now).toBe(42)
  })

  it('is migrated once by three processes that start together', { timeout: 120_000 }, async () => {
    const schema = newSchema()
    const children = [1, 2, 3].map(() => startChild(server.url, schema))
    await Promise.all(children.map(child => child.line('ready')))
    for (const child of children) child.process.stdin.write('go\n')
    expect(await Promise.all(children.map(child => child.exit))).toEqual([0, 0, 0])
    const store = await openStore({ url: server.url, schema })
    expect((await store.claim('w', 5, 1000)).claims).toHaveLength(3)
    const admin = await connect(server.url)
    const { rows } = await admin.query({ text: `select number from ${schema}.migration order by number` })
    expect(rows).toEqual(migrations.map((_, index) => ({ number: index + 1 })))
    await admin.end()
  })
})

async function failureOf(opening: Promise<unknown>): Promise<StoreOpenError> {
  const error = await opening.then(
    () => new Error('it was opened'),
    (error: unknown) => error,
  )
  if (error instanceof StoreOpenError) return error
  throw error
}

function startChild(url: string, schema: string) {
  const script = fileURLToPath(new URL('./postgres-child.ts', import.meta.url))
  const child = spawn(process.execPath, ['--import', 'tsx', script, url, schema], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const output = createInterface(child.stdout)
  const exit = once(child, 'close').then(([code]) => code as number | null)
  return {
    process: child,
    exit,
    line: (expected: string) =>
      new Promise<void>((resolve, reject) => {
        output.on('line', line => line === expected && resolve())
        void exit.then(code => reject(new Error(`the child ended with ${code}`)))
      }),
  }
}
