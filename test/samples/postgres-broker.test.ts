import { createHash } from 'node:crypto'
import { beforeAll, expect, it, onTestFinished, vi } from 'vitest'
import { loadLibrary } from '../../src/store/postgres/driver.ts'
import { connect } from '../external/postgres-connection.ts'
import { describePostgres } from '../store/postgres-subject.ts'
import {
  bind,
  demandPasswords,
  hold,
  large,
  login,
  rows,
  running,
  sessions,
  small,
  startSample,
  things,
} from './postgres-platform.ts'

const refused = { code: '42501' }
const unknownUser = { code: '28P01' }
/** As the sample names a database. */
function nameOf(id: string): string {
  return `osb_${createHash('sha256')
    .update(JSON.stringify([id]))
    .digest('hex')
    .slice(0, 32)}`
}

const incomplete = { acceptsIncomplete: true }

describePostgres('samples/postgres-broker', server => {
  const start = async () => ({ admin: await login({ uri: server.url }), ...(await startSample(server.url)) })
  beforeAll(async () => {
    const admin = await connect(server.url)
    await demandPasswords(admin)
    await admin.end()
  })

  it('gives out a database whose credentials connect, with the limits of its plan', async () => {
    const { client, admin } = await start()
    const parameters = { extensions: ['citext', 'hstore'] }
    expect((await client.provision('db', { ...small, parameters })).status).toBe(201)
    const credentials = await bind(client, 'db', 'app')
    const { host, port, database, username, password } = credentials
    expect(credentials.uri).toBe(`postgres://${username}:${password}@${host}:${port}/${database}`)

    const app = await login(credentials)
    await rows(app, `CREATE TABLE notes (text citext, tags hstore)`)
    await rows(app, `INSERT INTO notes VALUES ('Hello', 'a=>1')`)
    expect(await rows(app, `SELECT tags -> 'a' AS a FROM notes WHERE text = 'HELLO'`)).toEqual([{ a: '1' }])
    expect(await rows(app, 'SELECT session_user, current_user')).toEqual([
      { session_user: username, current_user: database },
    ])

    await expect(login({ uri: credentials.uri.replace(password, 'wrong') })).rejects.toMatchObject(unknownUser)
    await expect(rows(app, 'CREATE EXTENSION pg_trgm')).rejects.toMatchObject(refused)
    await expect(rows(app, `ALTER DATABASE ${database} CONNECTION LIMIT 99`)).rejects.toMatchObject(refused)
    for (let count = 2; count <= 5; count += 1) await login(credentials)
    await expect(login(credentials)).rejects.toMatchObject({ code: '53300' })

    expect((await client.provision('other', small)).status).toBe(201)
    const other = await bind(client, 'other', 'app')
    await expect(login({ uri: other.uri.replace(other.database, database) })).rejects.toMatchObject(refused)

    for (const id of ['db', 'other']) {
      expect((await client.unbind(id, 'app', small)).status).toBe(200)
      expect((await client.deprovision(id, small)).status).toBe(200)
    }
    expect(await things(admin)).toEqual([])
  })

  it('an update changes the plan: its connections, and what extensions may be asked for', async () => {
    const { client, admin } = await start()
    await client.provision('db', small)
    const { database } = await bind(client, 'db', 'app')
    const inside = await login({ uri: server.url.replace(/postgres$/, database) })
    const seen = async () => {
      const [limit] = await rows(
        admin,
        'SELECT datconnlimit AS connections FROM pg_database WHERE datname = $1',
        database,
      )
      const found = await rows(inside, `SELECT extname FROM pg_extension WHERE extname <> 'plpgsql' ORDER BY extname`)
      return { ...limit, extensions: found.map(({ extname }) => extname) }
    }
    expect(await seen()).toEqual({ connections: 5, extensions: [] })

    const trigrams = { extensions: ['pg_trgm', 'uuid-ossp'] }
    const early = await client.update('db', { ...small, parameters: trigrams })
    expect({ status: early.status, error: early.body.error }).toEqual({ status: 400, error: 'InvalidParameters' })
    expect((await client.update('db', { ...large, parameters: trigrams })).status).toBe(200)
    expect(await seen()).toEqual({ connections: 50, extensions: ['pg_trgm', 'uuid-ossp'] })

    // What it has is more than the small plan offers.
    expect((await client.update('db', small)).status).toBe(400)
    expect(await seen()).toMatchObject({ connections: 50 })
    expect((await client.update('db', { ...small, parameters: { extensions: ['citext'] } })).status).toBe(200)
    expect(await seen()).toEqual({ connections: 5, extensions: ['citext', 'pg_trgm', 'uuid-ossp'] })
    await client.unbind('db', 'app', small)
    await client.deprovision('db', small)
    expect(await things(admin)).toEqual([])
  })

  it('refuses an extension that the plan offers and the server does not have, before anything is made', async () => {
    const { client, admin } = await start()
    await rows(admin, 'CREATE SCHEMA bare')
    await rows(admin, `CREATE VIEW bare.pg_available_extensions AS SELECT 'citext' AS name`)
    await rows(admin, 'ALTER ROLE postgres IN DATABASE postgres SET search_path = bare, pg_catalog')
    onTestFinished(async () => {
      await rows(admin, 'ALTER ROLE postgres IN DATABASE postgres RESET search_path')
      await rows(admin, 'DROP SCHEMA bare CASCADE')
    })
    const { status, body } = await client.provision('db', { ...small, parameters: { extensions: ['hstore'] } })
    expect({ status, body }).toMatchObject({ status: 400, body: { description: 'No such extension here: hstore.' } })
    expect(await things(admin)).toEqual([])
  })

  it('unbind revokes: the sessions end, the credentials fail, what was made stays for the other bindings', async () => {
    const { client, admin } = await start()
    await client.provision('db', small)
    const [first, second] = [await bind(client, 'db', 'first'), await bind(client, 'db', 'second')]
    const [one, two] = [await login(first), await login(second)]
    await rows(one, 'CREATE TABLE usual (x int)')
    // Past the role that it was given, and past its database: both must not keep the role from going.
    await rows(one, 'SET ROLE NONE')
    await rows(one, 'CREATE TABLE own (x int)')
    const elsewhere = await login({ uri: first.uri.replace(first.database, 'postgres') })
    await rows(elsewhere, 'SET ROLE NONE')
    await rows(elsewhere, 'SELECT lo_create(4711)')
    await rows(one, 'BEGIN')
    await rows(one, 'LOCK TABLE own')

    expect((await client.unbind('db', 'first', small)).status).toBe(200)
    await expect(rows(one, 'SELECT 1')).rejects.toThrow()
    await expect(rows(elsewhere, 'SELECT 1')).rejects.toThrow()
    await expect(login(first)).rejects.toMatchObject(unknownUser)
    expect(await rows(two, 'SELECT * FROM usual, own')).toEqual([])
    expect((await client.fetchBinding('db', 'first')).status).toBe(404)

    expect((await client.deprovision('db', small)).body).toMatchObject({ error: 'BindingsExist' })
    expect((await client.unbind('db', 'second', small)).status).toBe(200)
    // Somebody is still connected, and the owner has left something in a database that is not its own.
    const guest = await login({ uri: server.url.replace(/postgres$/, first.database) })
    expect((await client.deprovision('db', small)).status).toBe(200)
    await expect(rows(guest, 'SELECT 1')).rejects.toThrow()
    expect(await things(admin)).toEqual([])
    expect(await rows(admin, 'SELECT FROM pg_largeobject_metadata')).toEqual([])
  })

  it('a rotation overlaps: both credentials work until the old binding goes', async () => {
    const { client } = await start()
    await client.provision('db', small)
    const before = await bind(client, 'db', 'before')
    const old = await login(before)
    await rows(old, 'CREATE TABLE t (x int)')
    const after = await bind(client, 'db', 'after', { predecessor_binding_id: 'before' })
    expect(after.database).toBe(before.database)
    expect(new Set([before, after].flatMap(({ username, password }) => [username, password])).size).toBe(4)
    const next = await login(after)
    await login(before)
    await rows(next, 'ALTER TABLE t ADD y int')
    expect((await client.fetchBinding('db', 'after')).body).toMatchObject({ credentials: after })

    expect((await client.unbind('db', 'before', small)).status).toBe(200)
    await expect(login(before)).rejects.toMatchObject(unknownUser)
    expect(await rows(next, 'SELECT x, y FROM t')).toEqual([])
    await client.unbind('db', 'after', small)
    expect((await client.deprovision('db', small)).status).toBe(200)
  })

  it.each([
    ['quotes', `'; DROP ROLE postgres; --"`],
    ['a line break, a zero width space and an emoji', 'a\nb\u200b🐘'],
    ['10 kB', 'x'.repeat(10_000)],
  ])('ids may hold anything: %s', async (_, id) => {
    const { client, admin } = await start()
    expect((await client.provision(id, small)).status).toBe(201)
    const app = await login(await bind(client, id, id))
    await rows(app, 'CREATE TABLE t (x int)')
    expect((await things(admin)).length).toBe(3)
    expect((await client.unbind(id, id, small)).status).toBe(200)
    expect((await client.deprovision(id, small)).status).toBe(200)
    expect(await things(admin)).toEqual([])
  })

  it('ten databases and ten bindings at once, beside somebody in template1', async () => {
    const { client, admin } = await start()
    await login({ uri: server.url.replace(/postgres$/, 'template1') })
    const ids = Array.from({ length: 10 }, (_, index) => `n${index}`)
    const made = await Promise.all(ids.map(id => client.provision(id, large)))
    expect(made.map(({ status }) => status)).toEqual(ids.map(() => 201))
    const credentials = await Promise.all(ids.map(id => bind(client, 'n0', id, large)))
    expect(new Set(credentials.map(({ username }) => username)).size).toBe(10)
    const names = await Promise.all(credentials.map(async one => rows(await login(one), 'SELECT session_user AS name')))
    expect(names.flat().map(({ name }) => name)).toEqual(credentials.map(({ username }) => username))

    await Promise.all(ids.map(id => client.unbind('n0', id, large)))
    const gone = await Promise.all(ids.map(id => client.deprovision(id, large)))
    expect(gone.map(({ status }) => status)).toEqual(ids.map(() => 200))
    expect(await things(admin)).toEqual([])
  })

  it('a DELETE in the middle of a provision leaves nothing, though CREATE DATABASE lands after it', async () => {
    const admin = await login({ uri: server.url })
    const { client } = await startSample(server.url, '2s')
    const { release } = await hold(server.url, 'pg_database')
    expect((await client.provision('db', small, incomplete)).status).toBe(202)
    await expect.poll(() => running(admin, 'CREATE DATABASE'), { timeout: 30_000 }).toBeGreaterThan(0)
    const { status, body } = await client.deprovision('db', small, incomplete)
    expect(status).toBe(202)
    await release()
    const state = async () => (await client.lastOperation('db', { operation: body.operation ?? '' })).body.state
    await expect.poll(state, { timeout: 30_000 }).toBe('succeeded')
    await expect.poll(() => running(admin, 'CREATE DATABASE'), { timeout: 30_000 }).toBe(0)
    // The id can be used again when nothing of the first time can come back.
    const again = async () => (await client.provision('db', small)).status
    await expect.poll(again, { timeout: 40_000 }).toBe(201)
    expect((await client.deprovision('db', small)).status).toBe(200)
    expect(await things(admin)).toEqual([])
  })

  it('a call that is given up cuts its connection', async () => {
    const admin = await login({ uri: server.url })
    // So that the server tells what it would else find out only with its answer.
    await rows(admin, `ALTER SYSTEM SET client_connection_check_interval = '100ms'`)
    await rows(admin, 'SELECT pg_reload_conf()')
    onTestFinished(async () => {
      await rows(admin, 'ALTER SYSTEM RESET client_connection_check_interval')
      await rows(admin, 'SELECT pg_reload_conf()')
    })
    const { client } = await startSample(server.url, '1s')
    const { release } = await hold(server.url, 'pg_database')
    await client.provision('db', small, incomplete)
    const attempts = new Set<unknown>()
    const look = async () => {
      for (const { pid } of await sessions(admin, 'CREATE DATABASE')) attempts.add(pid)
      return attempts.size
    }
    await expect.poll(look, { timeout: 40_000 }).toBeGreaterThan(3)
    await expect.poll(() => running(admin, 'CREATE DATABASE'), { timeout: 20_000 }).toBeLessThan(2)
    await release()
    const state = async () => (await client.lastOperation('db')).body.state
    await expect.poll(state, { timeout: 30_000 }).toBe('succeeded')
    expect((await client.deprovision('db', small)).status).toBe(200)
  })

  it('orphans are found by their labels, removed when they are old enough, and nothing else is touched', async () => {
    const { client, operators, admin } = await start()
    await client.provision('mine', small)
    await client.provision("lost'; \u200b", small)
    await client.provision('young', small)
    const [mine] = await rows(
      admin,
      `SELECT datname AS name FROM pg_database WHERE datname LIKE 'osb%'
      AND shobj_description(oid, 'pg_database') LIKE '%"mine"%'`,
    )
    const long = JSON.stringify({ instance: "lost'; \u200b", since: '2020-01-01T00:00:00Z' })
    const lost = nameOf("lost'; \u200b")
    await rows(admin, `COMMENT ON DATABASE ${lost} IS '${long.replaceAll("'", "''")}'`)
    await rows(admin, 'CREATE DATABASE osb_00000000000000000000000000000000 TEMPLATE template0')
    onTestFinished(async () => {
      await rows(admin, 'DROP DATABASE IF EXISTS osb_00000000000000000000000000000000')
    })
    // A broker whose ledger was lost, but for one instance.
    const other = await startSample(server.url)
    await other.client.provision('mine', small)
    const found = (await other.operators.orphans()).body.items ?? []
    const seen = found.map(({ name, instance_id, removable, reason }) => [name, instance_id, removable, reason])
    expect(seen.toSorted()).toEqual(
      [
        ['osb_00000000000000000000000000000000', undefined, false, 'It names no instance.'],
        [lost, "lost'; \u200b", true, undefined],
        [nameOf('young'), 'young', false, 'It is too young.'],
      ].toSorted(),
    )
    const { body } = await other.operators.removeOrphans({ reason: 'the ledger was lost' })
    const operation = body.items?.find(({ name }) => name === lost)?.operation ?? ''
    const state = async () => (await other.store.operation(operation))?.state
    await expect.poll(state, { timeout: 30_000 }).toBe('succeeded')
    const left = (await rows(admin, `SELECT datname AS name FROM pg_database WHERE datname LIKE 'osb%'`)).map(
      ({ name }) => name,
    )
    expect(left.toSorted()).toEqual(['osb_00000000000000000000000000000000', mine?.name, nameOf('young')].toSorted())
    expect((await other.operators.orphans()).body.items?.map(({ name }) => name)).not.toContain(lost)
    // The broker that has lost its database is told, not healed.
    expect((await operators.orphans()).body.items).toContainEqual(
      expect.objectContaining({ kind: 'orphan', name: 'osb_00000000000000000000000000000000' }),
    )
    for (const id of ['mine', 'young', "lost'; \u200b"]) await client.deprovision(id, small)
    await rows(admin, 'DROP DATABASE osb_00000000000000000000000000000000')
    expect(await things(admin)).toEqual([])
  })

  it('a server that is away for a while is waited for', async () => {
    const { client } = await startSample(server.url)
    await server.down('fast')
    const { body } = await client.provision('db', small, incomplete)
    const seen = async () => (await client.lastOperation('db', { operation: body.operation ?? '' })).body
    await expect.poll(seen, { timeout: 30_000 }).toMatchObject({ state: 'in progress' })
    await server.up()
    await expect.poll(seen, { timeout: 30_000 }).toMatchObject({ state: 'succeeded' })
    await client.deprovision('db', small)
    const admin = await login({ uri: server.url })
    expect(await things(admin)).toEqual([])
  })

  it('no password is sent to the server, or told in a log or an error', async () => {
    const { Client } = await loadLibrary()
    const query = vi.spyOn(Client.prototype, 'query')
    onTestFinished(() => query.mockRestore())
    const { client, log, store } = await start()
    await client.provision('db', small)
    const { password } = await bind(client, 'db', 'app')
    expect((await client.fetchBinding('db', 'app')).text).toContain(password)
    await client.unbind('db', 'app', small)
    await client.deprovision('db', small)
    const sent = query.mock.calls.map(([text]) => JSON.stringify(text))
    expect(sent.filter(text => text.includes('LOGIN PASSWORD')).length).toBe(1)
    const told = [...sent, ...log, JSON.stringify(await store.history('db'))]
    expect(told.filter(text => text.includes(password))).toEqual([])
  })
})
