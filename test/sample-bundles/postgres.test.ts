import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/protocol/json.ts'
import { connect } from '../external/postgres-connection.ts'
import { whyNot } from '../external/wanted.ts'
import { demandPasswords, login, rows, things } from '../samples/postgres-platform.ts'
import { describePostgres } from '../store/postgres-subject.ts'
import { useProcesses } from './process.ts'
import { bundleFolder } from './samples.ts'

const refused = { code: '42501' }
const unknownUser = { code: '28P01' }
const processes = useProcesses()

/** PostgreSQL may be there without its client. */
const reason = await whyNot(
  'postgres',
  () =>
    promisify(execFile)('which', ['psql', 'pg_isready']).catch(() => {
      throw new Error('there is no psql: install postgresql-client')
    }),
  'BUNDLES',
)

describe.skipIf(reason !== undefined)(`the bundle${reason === undefined ? '' : ` (skipped: ${reason})`}`, () => {
  describePostgres('bundles/postgres', server => {
    const trusted = () => {
      const { hostname, port } = new URL(server.url)
      return { pg_host: hostname, pg_port: Number(port), pg_password: 'trusted' }
    }
    const open = (secrets: JsonObject = trusted()) => processes.open(bundleFolder('postgres'), 'bundle.yml', secrets)
    const inside = (database: unknown) => login({ uri: server.url.replace(/postgres$/, String(database)) })
    const uriOf = ({ uri }: JsonObject, changes: object = {}) => Object.assign(new URL(String(uri)), changes).href

    beforeAll(async () => {
      const admin = await connect(server.url)
      await demandPasswords(admin)
      await admin.end()
    })

    it('gives out a database whose credentials connect, and nothing else of the server', async () => {
      const { succeed, state } = await open()
      const [mine, other] = [
        { instance: "it's mine", plan: 'small', parameters: { extensions: ['citext'] } },
        { instance: 'other', plan: 'small' },
      ]
      await Promise.all([succeed('provision', mine), succeed('provision', other)])
      const credentials = await succeed('bind', { ...mine, binding: 'app' })
      const { host, port, user, password, database } = credentials
      expect(credentials.uri).toBe(`postgres://${user}:${password}@${host}:${port}/${database}`)
      expect(port).toBe(Number(new URL(server.url).port))
      expect(state(mine.instance)).toEqual({ database })

      const app = await login({ uri: uriOf(credentials) })
      await rows(app, `CREATE TABLE notes (text citext)`)
      await rows(app, `INSERT INTO notes VALUES ('Hello')`)
      expect(await rows(app, `SELECT text FROM notes WHERE text = 'HELLO'`)).toHaveLength(1)
      const chosen = 'A-password.of_my~own'
      const second = await succeed('bind', { ...mine, binding: 'two', bindParameters: { password: chosen } })
      expect(second.password).toBe(chosen)
      expect(await rows(await login({ uri: uriOf(second) }), 'DROP TABLE notes')).toEqual([])

      await expect(login({ uri: uriOf(credentials, { password: 'wrong' }) })).rejects.toMatchObject(unknownUser)
      await expect(rows(app, 'CREATE EXTENSION hstore')).rejects.toMatchObject(refused)
      await expect(rows(app, `ALTER DATABASE ${database} CONNECTION LIMIT 99`)).rejects.toMatchObject(refused)
      const theirs = await succeed('bind', { ...other, binding: 'app' })
      const across = { pathname: `/${theirs.database}` }
      await expect(login({ uri: uriOf(credentials, across) })).rejects.toMatchObject(refused)

      for (const binding of ['app', 'two']) await succeed('unbind', { ...mine, binding })
      await expect(rows(app, 'SELECT 1')).rejects.toThrow()
      await expect(login({ uri: uriOf(credentials) })).rejects.toMatchObject(unknownUser)
      await succeed('unbind', { ...other, binding: 'app' })
      await succeed('deprovision', mine)
      await succeed('deprovision', other)
      expect(await things(await inside('postgres'))).toEqual([])
    })

    it('moves to a larger plan: more connections, more extensions', async () => {
      const { succeed } = await open()
      const small = { instance: 'grows', plan: 'small', parameters: { extensions: [] } }
      await succeed('provision', small)
      const { database } = await succeed('bind', { ...small, binding: 'app' })
      const admin = await inside(database)
      const seen = async () => {
        const [limit] = await rows(admin, `SELECT datconnlimit AS n FROM pg_database WHERE datname = '${database}'`)
        const found = await rows(admin, `SELECT extname FROM pg_extension WHERE extname <> 'plpgsql'`)
        return [limit?.n, ...found.map(({ extname }) => extname)]
      }
      expect(await seen()).toEqual([5])
      await succeed('update', { ...small, plan: 'large', parameters: { extensions: ['uuid-ossp', 'pg_trgm'] } })
      expect(await seen()).toEqual([50, 'uuid-ossp', 'pg_trgm'])
      await succeed('unbind', { ...small, binding: 'app' })
      await admin.end()
      await succeed('deprovision', small)
    })

    it('can do everything twice, and clears away what was only half made', async () => {
      const { succeed } = await open()
      const ask = { instance: 'twice', plan: 'small', binding: 'app' }
      await succeed('provision', ask)
      await succeed('provision', ask)
      const first = await succeed('bind', ask)
      const second = await succeed('bind', ask)
      expect(second).toMatchObject({ user: first.user, database: first.database })
      await expect(login({ uri: uriOf(first) })).rejects.toMatchObject(unknownUser)
      await rows(await login({ uri: uriOf(second) }), 'CREATE TABLE kept (id int)')
      await succeed('unbind', ask)
      await succeed('unbind', ask)
      expect(await rows(await inside(first.database), 'SELECT * FROM kept')).toEqual([])
      // A binding of which nobody knows any more.
      await succeed('bind', { ...ask, binding: 'left over' })

      await succeed('deprovision', ask)
      await succeed('deprovision', ask)
      expect(await things(await inside('postgres'))).toEqual([])
    })

    it('asks to be run again where the server is not there, and fails where it refuses', async () => {
      const ask = { instance: 'none', plan: 'small', binding: 'app' }
      const away = await open({ pg_host: trusted().pg_host, pg_port: 1 })
      for (const action of ['provision', 'bind', 'unbind', 'deprovision'] as const)
        expect(await away.run(action, ask), action).toMatchObject({
          code: 75,
          outputs: { message: 'The PostgreSQL server does not answer.' },
        })
      const stranger = await open({ ...trusted(), pg_user: 'stranger', pg_password: 'guess' })
      expect(await stranger.run('provision', ask)).toMatchObject({
        code: 1,
        outputs: { message: 'PostgreSQL refused it; the log of the operation says why.' },
        log: expect.stringContaining('stranger'),
      })
      const nowhere = await open({})
      expect(await nowhere.run('provision', ask)).toMatchObject({
        code: 1,
        outputs: { message: expect.stringContaining('pg_host') },
      })
    })
  })
})
