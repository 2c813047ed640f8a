import { beforeAll, describe, expect, it } from 'vitest'
import {
  type Connection,
  connectionConfig,
  loadLibrary,
  parseAddress,
  type SqlValue,
} from '../../src/store/postgres/driver.ts'
import { openPostgresStore } from '../../src/store/postgres/index.ts'
import { createLists } from '../../src/store/postgres/lists.ts'
import { createStatements, type Statements } from '../../src/store/postgres/statements.ts'
import { connect } from '../external/postgres-connection.ts'
import {
  actQueries,
  bindingQueries,
  inBothOrders,
  instanceQueries,
  isSortedByHand,
  type Lead,
  operationQueries,
  siftedLists,
  sqlIndexes,
} from './list-queries.ts'
import { describePostgres, newSchema, patient } from './postgres-subject.ts'

const document = '{"id": "i1", "state": "done"}'
/** Another latest operation than before: then the one before is no longer needed. */
const standing = { phase: 'ready', last_operation_id: 'o2' }
const listed = { created_at: 1, service_id: 's', plan_id: 'p' }
const change = {
  instance: {
    id: 'i1',
    ...standing,
    revision_id: 'r1',
    next_revision_id: 'r3',
    pinned_plan: '"p"',
    ...listed,
    platform: 'cf',
    usable: true,
    doc: document,
    sealed: '{}',
    sealed_state: '{}',
  },
  bindings: [{ instance_id: 'i1', id: 'b', ...standing, ...listed, doc: document, sealed: '{}', sealed_state: '{}' }],
  operations: [],
  forget: ['o2'],
  history: [{ instance_id: 'i1', doc: document }],
}
const step = JSON.stringify({ name: 's', state: 'done', doc: document, sealed: '{}' })

/** Every statement, with values that lead it all the way. `o1` is held with fence 1, and belongs to `i1`. */
const calls: Record<
  Exclude<keyof Statements, 'ping' | 'write' | 'writeMore' | 'writeWithin' | 'share'>,
  readonly SqlValue[]
> = {
  instance: ['i1'],
  binding: ['i1', 'b'],
  bindings: ['i1'],
  operation: ['o1'],
  history: ['i1'],
  steps: ['o1'],
  doneSteps: ['o1'],
  about: ['o1'],
  claimants: ['key', 10],
  dueForObservation: [10],
  dueForExpiry: [10],
  backlog: [10],
  backlogOfOthers: [10, ['s'], []],
  platforms: [],
  platformUse: ['cf', '5ad1dca2b5e6ee4a0a6e2e3b1a3b3c5d'],
  look: ['i1', 'b', 'p'],
  lookHeld: ['o1', 1],
  gathered: [`[{"id": "o1", "fence": 1, "step": ${step}}]`, null, '[{"id": "o1", "fence": 1}]'],
  claim: ['w', 10, 1000],
  claimOthers: ['w', 10, 1000, ['s'], ['p']],
  renew: [['o1', 'o7'], [1, 1], 1000],
  checkpoint: ['o1', 1, '"words"', step, '{}'],
  lookShared: ['o1', 1, 'key'],
  handBack: ['o1', 1],
  park: ['o1', 1, 5, null, null],
  takeName: ['n2', 'w', 1000, 1000],
  nameHolder: ['n1'],
  renewName: ['n1', 'w'],
  releaseName: ['n1', 'w'],
  takeChore: ['c1', 5, 'w', 1000],
  renewChore: ['c1', 1, 1000],
  finishChore: ['c1', 1, '{}'],
  chores: [],
  note: ['gate', 'a'],
  notes: ['gate', '', '', '~', 10],
  writeNotes: ['[{"kind": "gate", "id": "new", "version": 0, "doc": "{}"}]'],
  forgetNotes: [10],
  putBulletin: ['worker', 'w', 1000, '{}'],
  bulletins: ['worker'],
  cleanUp: ['instances', ['succeeded', 'failed'], 9e15, 10],
  purge: [9e15, 10],
  catalog: [1],
  registries: [],
  revisionUses: [],
  insertRevisions: ['[{"id": "new", "service_id": "s1", "doc": "{}"}]'],
  changeCatalog: [
    0,
    true,
    1,
    `[{"id": "s1", "revision_id": "r2", "retired": true, "doc": "{}"}]`,
    ['s1', 's2', 's3'],
    ['r1', 'r2', 'r3'],
    `[{"name": "g", "doc": "{}"}]`,
    ['h'],
    '{}',
  ],
}

const everyList = [
  ...inBothOrders(instanceQueries).map(([title, ...query]) => ['listInstances', title, ...query] as const),
  ...inBothOrders(bindingQueries).map(([title, ...query]) => ['listBindings', title, ...query] as const),
  ...inBothOrders(operationQueries).map(([title, ...query]) => ['listOperations', title, ...query] as const),
  ...inBothOrders(actQueries).map(([title, ...query]) => ['listActs', title, ...query] as const),
] as readonly (readonly [list: 'listInstances', title: string, query: object, lead: Lead])[]

describePostgres('postgres: the plan behind a call', server => {
  for (const [size, rows] of [
    ['an empty ledger', 0],
    ['a ledger that has grown since its statistics were made', 2],
    ['a large ledger', 20_000],
  ] as const) {
    describe(size, () => {
      const schema = newSchema()
      const statements = createStatements(`"${schema}"`, true)

      beforeAll(async () => {
        await (await openPostgresStore({ url: server.url, schema, ...patient })).close()
        const admin = await connect(server.url)
        await fill(admin, schema, rows === 20_000 ? 20_000 : 10)
        if (rows > 0) await admin.query({ text: 'analyze' })
        if (rows === 2) await fill(admin, schema, 5_000)
        await admin.end()
      }, 120_000)

      const run = (name: keyof Statements, values: readonly SqlValue[], generic: boolean) =>
        plansOf(server.url, generic, connection => connection.query({ ...statements[name], values }))

      for (const generic of [false, true]) {
        const kind = generic ? 'kept' : 'new'
        it.each(Object.entries(calls))(`%s finds its rows by an index (${kind} plans)`, async (name, values) => {
          const plans = await run(name as keyof typeof calls, values, generic)
          expect(plans.join('\n')).toMatch(/Scan/)
          expect(scansIn(plans)).toEqual([])
        })

        it(`write and share do, too (${kind} plans)`, async () => {
          const version = async (connection: Connection, name: 'look' | 'lookShared', values: readonly SqlValue[]) =>
            String((await connection.query({ ...statements[name], values })).rows[0]?.version)
          const plans = await plansOf(server.url, generic, async connection => {
            const write = await version(connection, 'look', ['i1', 'b', 'p'])
            const values = ['i1', 'b', 'p', write, JSON.stringify(change), null]
            const written = await connection.query({ ...statements.write, values })
            expect(written.rows[0]?.outcome).toBe('written')
            const limits = ['instances', 'bindings', 'operations'].map(kind => ({ kind, most: 1_000_000 }))
            const within = await connection.query({
              ...statements.writeWithin,
              values: [
                ...['i1', 'b', 'p', await version(connection, 'look', ['i1', 'b', 'p'])],
                ...[JSON.stringify(change), null, null, null, null],
                JSON.stringify({ platform: 'cf', key: 'cf', limits }),
              ],
            })
            expect(within.rows[0]?.outcome).toBe('written')
            const again = await version(connection, 'look', ['i1', 'b', 'p'])
            const row = { place: 0, instance: 'i1', binding: 'b', predecessor: 'p', version: again, change }
            const fresh = { place: 1, instance: 'new', version: null, now: null, change }
            const together = await connection.query({
              ...statements.gathered,
              values: [null, JSON.stringify([row, fresh]), null],
            })
            expect(together.rows.map(({ outcome }) => outcome)).toEqual(['written', 'changed'])
            const share = await version(connection, 'lookShared', ['o1', 1, 'key'])
            const shared = await connection.query({
              ...statements.share,
              values: ['o1', 1, 'key', share, 'creating', 'o1', true],
            })
            expect(shared.rows[0]?.outcome).toBe('written')
          })
          expect(plans.length).toBeGreaterThan(10)
          expect(scansIn(plans)).toEqual([])
        })

        it.each(everyList)(`%s %s walks an index (${kind} plans)`, async (list, _title, query, lead) => {
          const plans = await plansOf(server.url, generic, connection =>
            createLists(async ({ text }, values) => (await connection.query({ text, values })).rows, `"${schema}"`)[
              list
            ](query),
          )
          expect(plans.join('\n')).toMatch(/Index (Only )?Scan/)
          expect(scansIn(plans)).toEqual([])
          // Lists have no names, so that their plans are never kept.
          if (generic || rows !== 20_000) return
          const index = `Index (Only )?Scan (Backward )?using \\w+_${sqlIndexes[lead]} on`
          const sorted = isSortedByHand(lead)
          // The page is the front of the index: nothing stands between them.
          expect(plans.join('\n')).toMatch(new RegExp(sorted ? index : `Limit .*\n *-> +${index}`))
        })

        it.each(siftedLists)(`%s by %j walk one of %j to its edge (${kind} plans)`, async (list, query, leads) => {
          const examine = 20
          const plans = await plansOf(server.url, generic, connection => {
            const lists = createLists(
              async ({ text }, values) => (await connection.query({ text, values })).rows,
              `"${schema}"`,
            )
            const named = {
              instances: 'listInstances',
              bindings: 'listBindings',
              operations: 'listOperations',
            } as const
            return list === 'acts'
              ? lists.listActs({ ...query, examine })
              : lists[named[list]]({ ...query, examine } as object)
          })
          expect(plans).toHaveLength(leads.length + 1)
          expect(scansIn(plans)).toEqual([])
          if (generic || rows !== 20_000) return
          // What has no rows may be found so by any index that begins with it.
          const indexes = ['survey', ...leads.map(lead => sqlIndexes[lead])].join('|')
          for (const plan of plans) expect(plan).toMatch(new RegExp(`Scan .*_(${indexes})\\b`))
        })

        it(`a clean-up finds what may go by an index of nothing else (${kind} plans)`, async () => {
          const plans = (await run('cleanUp', calls.cleanUp, generic)).join('\n')
          expect(plans).toMatch(/Index Scan using operation_spent .*\n\s*Index Cond: .*state.*spent_at/)
        })

        // With old statistics the planner may take the index of all operations of an instance, until they are renewed.
        it.skipIf(rows === 2)(`a look reads active operations alone (${kind} plans)`, async () => {
          const plans = (await run('look', calls.look, generic)).join('\n')
          expect(plans).toContain('operation_one_active')
          expect(plans).not.toContain('operation_by_instance')
        })

        it(`claim reads the queue from its front (${kind} plans)`, async () => {
          const plan = (await run('claim', calls.claim, generic)).join('\n')
          expect(plan.match(/Scan using operation_due/g)).toHaveLength(2)
        })
      }
    })
  }
})

/** The plans of everything that runs in `body`, functions included, as the server tells them. Nothing of it is kept. */
async function plansOf(
  url: string,
  generic: boolean,
  body: (connection: Connection) => Promise<unknown>,
): Promise<string[]> {
  const { Client } = await loadLibrary()
  const session = { connectTimeoutMs: patient.connectTimeout, statementTimeoutMs: patient.statementTimeout }
  const connection = new Client(connectionConfig(parseAddress(url), session))
  const notices: string[] = []
  // The driver's own type knows this event; the store needs none of it.
  const events = connection as unknown as { on(event: 'notice', listener: (notice: { message: string }) => void): void }
  events.on('notice', ({ message }) => notices.push(message))
  await connection.connect()
  try {
    await connection.query({
      text: `load 'auto_explain'; set auto_explain.log_min_duration = 0; set auto_explain.log_nested_statements = on;
        set client_min_messages = log; set plan_cache_mode = ${generic ? 'force_generic_plan' : 'force_custom_plan'};
        begin`,
    })
    await body(connection)
    // The server tells the plan of a statement when it is done with it for good.
    await connection.query({ text: 'rollback' })
    return notices.filter(notice => notice.includes('plan:'))
  } finally {
    await connection.end()
  }
}

/** Scans of whole tables of ours. */
function scansIn(plans: readonly string[]): string[] {
  return plans
    .flatMap(plan => plan.split('\n'))
    .filter(line =>
      /Seq Scan on (instance|binding|operation|step|history|shared_resource|shared_claim|chore|revision|service|registry|catalog)\b/.test(
        line,
      ),
    )
}

async function fill(connection: Connection, schema: string, count: number): Promise<void> {
  const start = `(select count(*) from ${schema}.instance)`
  await connection.query({
    text: `
    insert into ${schema}.revision (id, service_id, doc)
      select 'r' || n, 's' || n, '${document}' from generate_series(${start} + 1, ${start} + ${count}) n;
    insert into ${schema}.service (id, revision_id, retired, doc)
      select 's' || n, 'r' || n, n % 2 = 0, '${document}' from generate_series(${start} + 1, ${start} + ${count}) n;
    insert into ${schema}.registry (name, doc) values ('g', '${document}') on conflict do nothing;
    insert into ${schema}.instance (id, observe_at, phase, deleted_at, last_operation_id, doc, sealed, sealed_state,
        revision_id, next_revision_id, pinned_plan, created_at, service_id, plan_id, platform, usable)
      select 'i' || n, n, case when n % 10 = 3 then 'deleted' else 'ready' end, case when n % 10 = 3 then n end, 'o' || n,
        '${document}', '{}', '{}', case when n % 4 < 2 then 'r' || n end, case when n % 4 = 1 then 'r' || n end, '"p"',
        n, 'service ' || n % 50, 'plan ' || n % 100, 'platform ' || n % 40, n % 50 <> 0
      from generate_series(${start} + 1, ${start} + ${count}) n;
    insert into ${schema}.binding (instance_id, id, phase, deleted_at, last_operation_id, doc, sealed, sealed_state,
        created_at, service_id, plan_id)
      select i.id, b, case b when 'd' then 'deleted' else 'ready' end, case b when 'd' then i.seq end, 'none',
        case when i.seq % 5 = 0 then '{"expiresAt":' || i.seq || '}' else '${document}' end, '{}', '{}', i.seq, i.service_id, i.plan_id from ${schema}.instance i, unnest(array['b', 'p', 'd']) b
      on conflict do nothing;
    insert into ${schema}.operation (id, instance_id, state, attempt, losses, not_before, lease_until, fence, drains,
        unclean, finished_at, doc, sealed, accepted_at, action)
      select 'o' || substr(i.id, 2), i.id, case when i.seq = 1 then 'running' when i.seq % 100 < 50 then 'succeeded'
          else 'queued' end, 0, 0, i.seq, 9e15, 1, 'o' || (i.seq - 1), false,
        case when i.seq % 100 between 2 and 49 then i.seq end, '${document}', '{}',
        i.seq, case when i.seq % 9 = 0 then 'update' else 'provision' end
      from ${schema}.instance i on conflict do nothing;
    insert into ${schema}.operation (id, instance_id, state, attempt, losses, not_before, fence, unclean, finished_at, doc,
        sealed, accepted_at, action)
      select 'old' || i.seq, i.id, case when i.seq % 20 = 0 then 'failed' else 'succeeded' end, 0, 0, 0, 1, false,
        i.seq, '${document}', '{}', i.seq, case when i.seq % 9 = 0 then 'update' else 'provision' end from ${schema}.instance i
      on conflict do nothing;
    insert into ${schema}.chore (name, due_at, owner, started_at, fence, lease_until) values ('c1', 1, 'w', 1, 1, 9e15)
      on conflict do nothing;
    insert into ${schema}.step (operation_id, name, state, doc, sealed)
      select o.id, 'earlier', 'done', '${document}', '{}' from ${schema}.operation o on conflict do nothing;
    insert into ${schema}.history (instance_id, doc) select i.id, '${document}' from ${schema}.instance i;
    insert into ${schema}.history (instance_id, doc)
      select i.id, '{"type":"acted","verb":"' || case when i.seq % 50 = 0 then 'abandon' else 'retry' end ||
        '","by":"ops' || i.seq % 9 || '","at":' || i.seq || '}' from ${schema}.instance i;
    insert into ${schema}.shared_claim (resource_key, instance_id) select 'key', i.id from ${schema}.instance i
      on conflict do nothing`,
  })
}
