/** The SQL of docs/guides/moving.md, on tables as the public projects make them and with rows as they write them. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { defineService } from '../../src/index.ts'
import { silent } from '../../src/observer.ts'
import type { JsonObject } from '../../src/protocol/json.ts'
import { loadDriver } from '../../src/store/sqlite/driver.ts'
import { startTestBroker } from '../../src/testing/test-broker.ts'
import { makeFolder, runCli } from '../cli/test-io.ts'
import { blocksOf } from '../docs/pages.ts'
import { connect } from '../external/postgres-connection.ts'
import { describePostgres } from '../store/postgres-subject.ts'
import { testFolder } from '../store/sqlite-drivers.ts'
import { realClock, until } from './stores.ts'

const service = '11111111-aaaa-4bbb-8ccc-222222222222'
const plan = '33333333-aaaa-4bbb-8ccc-444444444444'
const one = '55555555-aaaa-4bbb-8ccc-666666666666'
const other = '77777777-aaaa-4bbb-8ccc-888888888888'
const bound = '99999999-aaaa-4bbb-8ccc-000000000000'

function recipe(name: string): string {
  const found = blocksOf('docs/guides/moving.md').find(
    ({ marker, argument }) => marker === 'recipe' && argument === name,
  )
  if (found === undefined) throw new Error(`the guide has no recipe ${name}`)
  return found.text
}

/** Adopts what a recipe printed, twice; binds and removes one of them. Answers the state that its actions saw. */
async function adopt(lines: readonly unknown[]) {
  const seen: JsonObject[] = []
  const db = defineService({
    id: service,
    name: 'db',
    description: 'A database',
    bindable: true,
    plans: [{ id: plan, name: 'small', description: 'Small' }],
    async provision() {},
    async deprovision({ state }) {
      seen.push(state as JsonObject)
    },
    bind: async () => ({ credentials: {} }),
    async unbind({ bindingState }) {
      seen.push(bindingState as JsonObject)
    },
  })
  const settings = { osb: { requireOrgAndSpace: false } }
  const started = { services: [db], observer: silent, clock: realClock, transport: 'socket', settings } as const
  const broker = await startTestBroker(started)
  onTestFinished(() => broker.stop())
  const cwd = await makeFolder()
  await writeFile(join(cwd, 'lines'), lines.map(line => `${JSON.stringify(line)}\n`).join(''))
  const run = (...more: string[]) =>
    runCli(['instances', 'adopt', '--file', 'lines', '--reason', 'moving', ...more], {
      cwd,
      env: { PURSER_URL: broker.url },
    })
  expect(await run('--dry-run')).toMatchObject({ code: 0, out: expect.stringContaining('3 would be adopted, 0 here') })
  expect(await run()).toMatchObject({ code: 0, out: expect.stringContaining('3 adopted, 0 here already, 0 refused') })
  expect(await run()).toMatchObject({ code: 0, out: expect.stringContaining('0 adopted, 3 here already, 0 refused') })
  const { store, client } = broker
  const rows = {
    one: await store.instance(one),
    other: await store.instance(other),
    bound: await store.binding(one, bound),
  }
  const ids = { service_id: service, plan_id: plan }
  const accept = { acceptsIncomplete: true }
  for (const begin of [
    () => client.bind(one, 'new', ids, accept),
    () => client.unbind(one, 'new', ids, accept),
    () => client.unbind(one, bound, ids, accept),
    () => client.deprovision(one, ids, accept),
  ]) {
    const { status, body } = await begin()
    expect(status).toBe(202)
    const done = await until(async () => {
      const operation = await store.operation(body.operation ?? '')
      return operation?.finishedAt !== undefined && operation
    })
    expect(done.state).toBe('succeeded')
  }
  return { rows, seen: seen.slice(1) }
}

describePostgres('recipes on PostgreSQL', server => {
  async function print(tables: string, name: string, before = ''): Promise<readonly unknown[]> {
    const connection = await connect(server.url)
    try {
      const schema = `recipe_${name.replaceAll('-', '_')}`
      await connection.query({ text: `create schema ${schema}; set search_path = ${schema}; ${tables}; ${before}` })
      const { rows } = await connection.query({ text: recipe(name) })
      return rows.map(row => Object.values(row)[0]).map(line => (typeof line === 'string' ? JSON.parse(line) : line))
    } finally {
      await connection.end()
    }
  }

  it('Spring Cloud App Broker', async () => {
    const tables = `
      create table service_instance (id bigserial primary key, service_instance_id varchar(36) unique not null,
        description varchar(255), operation_state varchar(50), last_updated timestamp);
      create table service_instance_binding (id bigserial primary key, service_instance_id varchar(36) not null,
        binding_id varchar(36) not null, description varchar(255), operation_state varchar(50), last_updated timestamp,
        unique (service_instance_id, binding_id));
      insert into service_instance (service_instance_id, description, operation_state, last_updated) values
        ('${one}', 'create service instance completed', 'SUCCEEDED', now()),
        ('${other}', 'create service instance completed', 'SUCCEEDED', now()),
        ('failed', 'create service instance failed', 'FAILED', now());
      insert into service_instance_binding (service_instance_id, binding_id, operation_state, last_updated) values
        ('${one}', '${bound}', 'SUCCEEDED', now())`
    const platform = `${recipe('app-broker-platform')};
      insert into platform select service_instance_id, '${service}', '${plan}', 'o', 's' from service_instance`
    const { rows, seen } = await adopt(await print(tables, 'app-broker', platform))
    expect(rows.one).toMatchObject({ context: { organization_guid: 'o', space_guid: 's' }, state: { instance: one } })
    expect(seen).toEqual([{}, { instance: one }])
  })

  it('a Spring broker with JPA', async () => {
    const pairs = (table: string, of: string, kind: string) =>
      `create table ${table} (${of} varchar(50) not null, ${kind}_value varchar(255), ${kind}_name varchar(100) not null,
        primary key (${of}, ${kind}_name))`
    const tables = `
      create table service_instances (instance_id varchar(50) primary key, plan_id varchar(50), service_definition_id varchar(50));
      ${pairs('service_instance_parameters', 'instance_id', 'parameter')};
      create table service_bindings (binding_id varchar(50) primary key);
      ${pairs('service_binding_parameters', 'binding_id', 'parameter')};
      ${pairs('service_binding_credentials', 'binding_id', 'credential')};
      insert into service_instances values ('${one}', '${plan}', '${service}'), ('${other}', '${plan}', '${service}');
      insert into service_instance_parameters values ('${one}', '3', 'size');
      insert into service_bindings values ('${bound}');
      insert into service_binding_credentials values ('${bound}', 'https://x', 'uri'), ('${bound}', 'p"w', 'password');
      create table platform_bindings (binding_id text, instance_id text);
      insert into platform_bindings values ('${bound}', '${one}')`
    const { rows } = await adopt(await print(tables, 'spring-jpa'))
    expect(rows.one?.parameters).toEqual({ size: '3' })
    expect(rows.bound?.result).toEqual({ credentials: { uri: 'https://x', password: 'p"w' } })
  })

  it('tables of a broker with its own', async () => {
    const tables = `
      create table instances (id text primary key, service_id text not null, plan_id text not null, org_guid text,
        space_guid text, parameters jsonb, dashboard_url text, database_name text not null, created_at timestamptz not null);
      create table bindings (id text primary key, instance_id text references instances, app_guid text, credentials jsonb);
      insert into instances values
        ('${one}', '${service}', '${plan}', 'o', 's', '{"a": 1}', null, 'd1', '2021-02-03T04:05:06Z'),
        ('${other}', '${service}', '${plan}', 'o', 's', null, 'https://dash.example', 'd2', now());
      insert into bindings values ('${bound}', '${one}', null, '{"username": "u1"}')`
    const { rows, seen } = await adopt(await print(tables, 'own-tables'))
    expect(rows.one).toMatchObject({ parameters: { a: 1 }, createdAt: Date.parse('2021-02-03T04:05:06Z') })
    expect(rows.other).toMatchObject({ parameters: {}, dashboardUrl: 'https://dash.example' })
    expect(seen).toEqual([{ user: 'u1' }, { database: 'd1' }])
  })
})

describe('recipes on SQLite', () => {
  it('cloud-service-broker', async () => {
    const database = (await loadDriver()).open(join(testFolder(), 'csb.db'))
    onTestFinished(() => database.close())
    const model = 'id integer primary key autoincrement, created_at datetime, updated_at datetime, deleted_at datetime'
    const at = "'2022-03-04 05:06:07.123456789+00:00', '2022-03-04 05:06:07.123456789+00:00'"
    database.exec(`
      create table service_instance_details (id varchar(255) not null primary key, created_at datetime, updated_at datetime,
        deleted_at datetime, name varchar(255), location varchar(255), url varchar(255), other_details blob,
        service_id varchar(255), plan_id varchar(255), space_guid varchar(255), organization_guid varchar(255),
        operation_type varchar(255), operation_id varchar(1024));
      create table service_binding_credentials (${model}, other_details blob, service_id varchar(255),
        service_instance_id varchar(255), binding_id varchar(255));
      create table provision_request_details (${model}, service_instance_id varchar(255), request_details blob);
      insert into service_instance_details values
        ('${one}', ${at}, null, '', '', '', cast('{"hostname":"h"}' as blob), '${service}', '${plan}', 's', 'o', '', ''),
        ('${other}', ${at}, null, '', '', '', null, '${service}', '${plan}', 's', 'o', '', ''),
        ('gone', ${at}, '2023-01-01', '', '', '', null, '${service}', '${plan}', 's', 'o', '', '');
      insert into provision_request_details (created_at, updated_at, service_instance_id, request_details)
        values (${at}, '${one}', cast('{"cores":2}' as blob));
      insert into service_binding_credentials (created_at, updated_at, other_details, service_id, service_instance_id, binding_id)
        values (${at}, cast('{"username":"u","password":"p"}' as blob), '${service}', '${one}', '${bound}')`)
    const lines = database.prepare(recipe('cloud-service-broker')).all()
    const { rows, seen } = await adopt(lines.map(({ line }) => JSON.parse(String(line))))
    expect(rows.one).toMatchObject({ parameters: { cores: 2 }, createdAt: Date.parse('2022-03-04T05:06:07.123Z') })
    expect(rows.bound?.result).toEqual({ credentials: { username: 'u', password: 'p' } })
    expect(seen).toEqual([{}, { outputs: { hostname: 'h' } }])
  })
})
