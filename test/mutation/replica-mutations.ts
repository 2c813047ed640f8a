import type { Mutation } from './mutation.ts'

const postgres = { needs: 'postgres', suite: ['test/store/postgres.test.ts'] } as const
const postgresStatements = { ...postgres, file: 'src/store/postgres/statements.ts' }
const postgresFunctions = { ...postgres, file: 'src/store/postgres/functions.ts' }
const postgresGathering = { ...postgresFunctions, suite: ['test/store/postgres-gathering.test.ts'] }
const postgresFailover = { ...postgres, suite: ['test/store/postgres-failover.test.ts'] }
const mongodb = { needs: 'mongodb', suite: ['test/store/mongodb.test.ts'] } as const
const mongoFailover = { needs: 'mongodb', suite: ['test/store/mongodb-failover.test.ts'] } as const
const mongoProgress = { ...mongodb, file: 'src/store/mongodb/progress.ts' }

/** The guards that stand in the other stores, too, where many replicas write. */
export const replicaMutations: readonly Mutation[] = [
  {
    suite: ['test/http/create-broker.test.ts'],
    file: 'src/running/start-broker.ts',
    name: 'a replica that is about to stop says that it is ready',
    find: 'announceStop() {\n      ending = true',
    replace: 'announceStop() {',
  },
  {
    suite: ['test/http/node.test.ts'],
    file: 'src/http/node.ts',
    name: 'a server that is about to close keeps connections alive',
    find: 'announceClose: () => listener.drain()',
    replace: 'announceClose: () => {}',
  },
  {
    ...postgresFunctions,
    only: 'fence',
    name: 'postgres writes without their fence',
    find: "o.id = p_operation and o.fence = p_fence and o.state = 'running'",
    replace: "o.id = p_operation and p_fence > 0 and o.state = 'running'",
  },
  {
    ...postgresFunctions,
    suite: ['test/store/postgres-replicas.test.ts'],
    only: 'loses no decision',
    name: 'postgres writes what was decided from an old look',
    find: `v_changed := \${schema}.version_of(p_instance, p_binding, p_predecessor) <> p_version;`,
    replace: 'v_changed := false;',
  },
  {
    ...postgresGathering,
    only: 'shows a decision',
    name: 'postgres makes an instance that is there',
    find: `\${replaced(columns.instance)} where v_exists;`,
    replace: `\${replaced(columns.instance)};`,
  },
  {
    ...postgresGathering,
    only: 'clock has jumped',
    name: 'postgres believes any clock',
    find: `p_now not between now - \${staleAfterMs} and now`,
    replace: 'false',
  },
  {
    ...postgresGathering,
    only: 'locked rows',
    name: 'postgres keeps all checkpoints for one that is locked',
    find: 'where o.id = v.id for no key update skip locked;',
    replace: 'where o.id = v.id for no key update;',
  },
  {
    ...postgresGathering,
    only: 'locked rows',
    name: 'postgres keeps all decisions for one that is locked',
    find: 'v.change, v.now, false) w;',
    replace: 'v.change, v.now, true) w;',
  },
  {
    ...postgresFailover,
    file: 'src/store/postgres/servers.ts',
    only: 'wherever it stands',
    name: 'postgres takes a standby for the primary',
    find: 'if (rows[0]?.read_only === false) return',
    replace: 'if (rows.length > 0) return',
  },
  {
    ...postgresFailover,
    file: 'src/store/postgres/failures.ts',
    only: 'become read-only',
    name: 'postgres keeps a connection that cannot write',
    find: " && said.code !== '25006'",
    replace: '',
  },
  {
    ...postgresFailover,
    file: 'src/store/postgres/database.ts',
    only: 'vanished',
    name: 'postgres waits for every connection to a server that is gone',
    find: 'if (!usable) giveUp(connection)',
    replace: '',
  },
  {
    ...postgresStatements,
    only: 'parallel claims',
    name: 'postgres claims what another is claiming',
    find: ' for no key update skip locked',
    replace: '',
  },
  {
    ...postgresStatements,
    only: 'claim:',
    name: 'postgres claims what is not due',
    find: `where o.\${active} and o.due_at <= (select now from clock)`,
    replace: `where o.\${active} and o.due_at is not null`,
  },
  {
    ...postgresStatements,
    only: 'renew|lease',
    name: 'postgres renew revives a lease that is over',
    find: ' and o.lease_until > clock.now order by',
    replace: ' order by',
  },
  {
    ...postgres,
    file: 'src/store/postgres/migrations.ts',
    only: 'concurrency|active',
    name: 'postgres without its unique index',
    find: 'create unique index operation_one_active',
    replace: 'create index operation_one_active',
  },
  {
    ...mongoProgress,
    only: 'fence',
    name: 'mongodb writes without their fence',
    find: "return { _id: operation, fence, state: 'running' }",
    replace: "return { _id: operation, state: 'running', ...(fence < 0 ? { fence } : {}) }",
  },
  {
    ...mongoProgress,
    only: 'renew|lease',
    name: 'mongodb renew revives a lease that is over',
    find: "$expr: { $gt: ['$leaseUntil', now] },",
    replace: '',
  },
  {
    ...mongodb,
    file: 'src/store/mongodb/claim.ts',
    suite: ['test/store/mongodb-replicas.test.ts'],
    only: 'never claim one operation twice',
    name: 'mongodb claims what another has claimed',
    find: ", $expr: { $lte: ['$dueAt', now] } }",
    replace: ' }',
  },
  {
    ...mongodb,
    file: 'src/store/mongodb/migrations.ts',
    only: 'concurrency|active',
    name: 'mongodb without its unique index',
    find: 'active), unique: true }',
    replace: 'active) }',
  },
  {
    ...mongoFailover,
    file: 'src/store/mongodb/transactions.ts',
    only: 'rolled back',
    name: 'mongodb answers what only one member has',
    find: "writeConcern: { w: 'majority', journal: true, wtimeoutMS: timeoutMs }",
    replace: 'writeConcern: { w: 1, journal: true }',
  },
  {
    ...mongoFailover,
    file: 'src/store/mongodb/open.ts',
    only: 'rolled back',
    name: 'mongodb hands out claims that only one member has',
    find: "writeConcern: { w: 'majority', journal: true, wtimeoutMS: timeoutMs }",
    replace: 'writeConcern: { w: 1, journal: true }',
  },
  {
    ...mongoFailover,
    file: 'src/store/mongodb/open.ts',
    only: 'rolled back',
    name: 'mongodb shows what only one member has',
    find: "readConcern: new ReadConcern('majority')",
    replace: "readConcern: new ReadConcern('local')",
  },
  {
    ...mongoFailover,
    file: 'src/store/mongodb/reads.ts',
    only: 'cannot know',
    name: 'mongodb believes a primary that was replaced',
    find: ' ?? (await rows.findOne(filter, sure))',
    replace: '',
  },
]
