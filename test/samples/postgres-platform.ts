/** What the tests of samples/postgres-broker share: the sample in this process, and a look at its server from behind. */
import { join } from 'node:path'
import { onTestFinished, vi } from 'vitest'
import { createOpenAuthenticator } from '../../src/authenticator/open.ts'
import type { BrokerDefinition } from '../../src/author/broker-definition.ts'
import { createAdminClient, createOsbClient, type OsbClient } from '../../src/client/index.ts'
import { systemClock } from '../../src/clock.ts'
import { toFetch } from '../../src/http/fetch.ts'
import { observeLines } from '../../src/observer/log.ts'
import type { JsonObject } from '../../src/protocol/json.ts'
import { startBroker } from '../../src/running/start-broker.ts'
import { readSettings } from '../../src/settings/settings.ts'
import type { Duration } from '../../src/shape/duration.ts'
import { createMemoryStore } from '../../src/store/memory/index.ts'
import type { Connection, SqlRow } from '../../src/store/postgres/driver.ts'
import { connect } from '../external/postgres-connection.ts'

// The sample names the package; here that is the source, not a build that may be of yesterday.
vi.mock('purser', () => import('../../src/index.ts'))

export const sample = join(import.meta.dirname, '..', '..', 'samples', 'postgres-broker')
export const small = { service_id: 'postgres', plan_id: 'pg-small' }
export const large = { service_id: 'postgres', plan_id: 'pg-large' }

export interface Credentials {
  readonly uri: string
  readonly host: string
  readonly port: number
  readonly database: string
  readonly username: string
  readonly password: string
}

/** The sample, on a ledger of its own. `log` has everything that it told about itself. */
export async function startSample(url: string, callTimeout: Duration = '12s') {
  process.env.PGADMIN_URL = url
  const { default: definition } = (await import(join(sample, 'broker.mjs'))) as { default: BrokerDefinition }
  const log: string[] = []
  const broker = await startBroker({
    definition: { services: definition.services.map(service => ({ ...service, callTimeout })) },
    store: createMemoryStore({ clock: systemClock }),
    authenticator: createOpenAuthenticator(),
    settings: readSettings({
      osb: { requireOrgAndSpace: false },
      engine: { pollInterval: 50, retry: { initial: 50, factor: 2, max: 500 } },
    }),
    observer: observeLines('info', ({ text, fields }) => log.push(`${text} ${JSON.stringify(fields)}`)),
  })
  onTestFinished(() => broker.stop(0))
  const send = toFetch(broker.app)
  const client = createOsbClient({ url: 'http://broker.test', fetch: (input, init) => send(new Request(input, init)) })
  const admin = createAdminClient({ url: 'http://broker.test', fetch: (input, init) => send(new Request(input, init)) })
  return { client, operators: admin, log, store: broker.context.store }
}

/** Binds and waits for it. */
export async function bind(client: OsbClient, instance: string, binding: string, more: JsonObject = {}) {
  const answer = await client.bind(instance, binding, { ...small, ...more })
  if (answer.status !== 201) throw new Error(`the bind was answered ${answer.status} ${answer.text}`)
  return answer.body.credentials as unknown as Credentials
}

/** Logs in as an application does. */
export async function login({ uri }: Pick<Credentials, 'uri'>): Promise<Connection> {
  const connection = await connect(uri)
  onTestFinished(() => connection.end())
  return connection
}

export async function rows(connection: Connection, text: string, ...values: string[]): Promise<readonly SqlRow[]> {
  return (await connection.query({ text, values })).rows
}

/** Everything on the server that the sample has made. */
export async function things(admin: Connection): Promise<readonly unknown[]> {
  const text = `SELECT 'database ' || datname AS thing FROM pg_database WHERE datname LIKE 'osb%'
    UNION ALL SELECT 'role ' || rolname FROM pg_roles WHERE rolname LIKE 'osb%' ORDER BY thing`
  return (await rows(admin, text)).map(({ thing }) => thing)
}

/** From now on every role but the superuser has to know its password. */
export async function demandPasswords(admin: Connection): Promise<void> {
  const [file] = await rows(admin, 'SHOW hba_file')
  const lines = ['host all postgres all trust', 'host all all all scram-sha-256']
  const values = lines.map(line => `('${line}')`).join(', ')
  await rows(admin, `COPY (VALUES ${values}) TO '${file?.hba_file}'`)
  await rows(admin, 'SELECT pg_reload_conf()')
}

export type Table = 'pg_database' | 'pg_authid'

/** Holds every statement that has to write to the table until `release`. */
export async function hold(url: string, table: Table) {
  const holder = await connect(url)
  onTestFinished(() => holder.end())
  await rows(holder, 'BEGIN')
  await rows(holder, `LOCK ${table} IN EXCLUSIVE MODE`)
  return { release: () => rows(holder, 'ROLLBACK') }
}

/** The sessions that are at a statement that begins like this. */
export function sessions(admin: Connection, statement: string): Promise<readonly SqlRow[]> {
  return rows(admin, `SELECT pid FROM pg_stat_activity WHERE state = 'active' AND query LIKE $1 || '%'`, statement)
}

export async function running(admin: Connection, statement: string): Promise<number> {
  return (await sessions(admin, statement)).length
}
