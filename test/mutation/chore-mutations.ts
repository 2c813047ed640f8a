import type { Mutation } from './mutation.ts'

const memory = { suite: ['test/store/memory.test.ts'] }
const sql = { file: 'src/store/sqlite/statements.ts', suite: ['test/store/sqlite.test.ts'] }
const memoryChores = { ...memory, file: 'src/store/memory/chores.ts' }
const memoryCleanUp = { ...memory, file: 'src/store/memory/clean-up.ts' }
const memoryPurge = { ...memory, file: 'src/store/memory/purge.ts' }
const postgres = { needs: 'postgres', suite: ['test/store/postgres.test.ts'] } as const
const postgresUpkeep = { ...postgres, file: 'src/store/postgres/upkeep-functions.ts' }
const postgresStatements = { ...postgres, file: 'src/store/postgres/statements.ts' }
const mongodb = { needs: 'mongodb', suite: ['test/store/mongodb.test.ts'] } as const
const mongoChores = { ...mongodb, file: 'src/store/mongodb/chores.ts', only: 'chores:' }

/** The guards of chores, clean-up and purge, in every store. */
export const choreMutations: readonly Mutation[] = [
  // Chores: each period once, by one holder.
  {
    ...memoryChores,
    name: 'memory takes a period of a chore twice',
    find: 'return dueAt > before.dueAt',
    replace: 'return dueAt >= before.dueAt',
  },
  {
    ...memoryChores,
    name: 'memory takes a chore that is held',
    find: ' && (before.leaseUntil ?? 0) <= now',
    replace: '',
  },
  { ...memoryChores, name: 'memory takes a chore ahead of its time', find: 'dueAt > now || ', replace: '' },
  {
    ...memoryChores,
    name: 'memory ends a chore without its fence',
    find: 'chore?.fence === fence && ',
    replace: 'fence > 0 && chore !== undefined && ',
  },
  { ...memoryChores, name: 'memory revives a chore that is over', find: ' || chore.leaseUntil <= now', replace: '' },
  {
    ...sql,
    name: 'sqlite takes a period of a chore twice',
    find: 'excluded.due_at > chore.due_at',
    replace: 'excluded.due_at >= chore.due_at',
  },
  {
    ...sql,
    name: 'sqlite takes a chore that is held',
    find: ' and chore.lease_until <= excluded.started_at',
    replace: '',
  },
  {
    ...sql,
    name: 'sqlite ends a chore without its fence',
    find: 'where name = ? and fence = ?',
    replace: 'where name = ? and ? is not null',
  },
  {
    ...sql,
    name: 'sqlite revives a chore that is over',
    find: 'where lease_until > ? and name = ?',
    replace: 'where ? is not null and name = ?',
  },
  {
    ...postgresStatements,
    only: 'chores:',
    name: 'postgres takes a period of a chore twice',
    find: 'excluded.due_at > c.due_at',
    replace: 'excluded.due_at >= c.due_at',
  },
  {
    ...postgresStatements,
    only: 'chores:',
    name: 'postgres takes a chore that is held',
    find: ' and c.lease_until <= excluded.started_at',
    replace: '',
  },
  {
    ...postgresStatements,
    only: 'chores:',
    name: 'postgres takes a chore ahead of its time',
    find: ' from clock where $2 <= clock.now',
    replace: ' from clock where $2 >= 0',
  },
  {
    ...mongoChores,
    name: 'mongodb takes a period of a chore twice',
    find: 'dueAt: { $lt: dueAt }',
    replace: 'dueAt: { $lte: dueAt }',
  },
  {
    ...mongoChores,
    name: 'mongodb takes a chore that is held',
    find: ", $expr: { $lte: ['$leaseUntil', now()] }",
    replace: '',
  },

  // Clean-up and purge: nothing goes that is in progress, or that an answer is given from.
  {
    ...memoryCleanUp,
    name: 'memory cleans up the latest one of what lives',
    find: ' && !isNeeded(tables, operation)',
    replace: '',
  },
  {
    ...memoryCleanUp,
    name: 'memory cleans up under a lease',
    find: '(operation.leaseUntil ?? 0) <= now && ',
    replace: '',
  },
  {
    ...memoryPurge,
    name: 'memory purges what is at work',
    find: '    if (tables.activeOperation(instance.id) !== undefined || tables.busyBindings(instance.id).length > 0) continue\n',
    replace: '',
  },
  {
    ...memoryPurge,
    name: 'memory purges what is unclean',
    find: 'return uncleanUntil > now',
    replace: 'return uncleanUntil > now + 1e12',
  },
  {
    ...sql,
    only: 'cleanUp:',
    name: 'sqlite cleans up the latest one of what lives',
    find: ` and not \${needed} order by spent_at`,
    replace: ' order by spent_at',
  },
  {
    ...sql,
    name: 'sqlite cleans up under a lease',
    find: 'and ifnull(lease_until, 0) <= ? and not',
    replace: 'and ? is not null and not',
  },
  {
    ...sql,
    name: 'sqlite purges what is at work',
    find: `    and not exists (select 1 from operation where operation.instance_number = instance.number and \${active})\n`,
    replace: '',
  },
  {
    ...sql,
    name: 'sqlite purges what is unclean',
    find: 'from instance where deleted_at <= ? and ifnull(unclean_until, 0) <= ?',
    replace: 'from instance where deleted_at <= ? and ? is not null',
  },
  {
    ...sql,
    file: 'src/store/sqlite/accept.ts',
    name: 'sqlite keeps the deletion of what is gone for ever',
    find: "resource?.lastOperationId === id && resource.phase !== 'deleted'",
    replace: 'resource?.lastOperationId === id',
  },
  {
    ...sql,
    file: 'src/store/sqlite/store.ts',
    name: 'sqlite shows an operation that was cleaned up',
    find: 'for (const id of removed) cache.operations.forget(id)',
    replace: '',
  },
  {
    ...postgresUpkeep,
    only: 'cleanUp:',
    name: 'postgres cleans up the latest one of what lives',
    find: ` and not \${needed('o')}`,
    replace: '',
  },
  {
    ...postgresUpkeep,
    only: 'cleanUp:',
    name: 'postgres cleans up under a lease',
    find: 'coalesce(o.lease_until, 0) <= v_now',
    replace: 'true',
  },
  {
    ...postgresUpkeep,
    suite: ['test/store/postgres-purge.test.ts'],
    name: 'postgres purges an instance by an old look',
    find: `      perform 1 from \${schema}.instance i where i.id = r.instance_id and \${deadInstance};\n      continue when not found;\n`,
    replace: '',
  },
  {
    ...postgresUpkeep,
    suite: ['test/store/postgres-purge.test.ts'],
    name: 'postgres purges a binding by an old look',
    find: ` and b.id = r.binding_id and \${deadBinding};\n      continue when not found;\n`,
    replace: ';\n',
  },
  {
    ...mongodb,
    file: 'src/store/mongodb/clean-up.ts',
    only: 'cleanUp:',
    name: 'mongodb cleans up the latest one of what lives',
    find: '{ $match: { neededBy: [] } },',
    replace: '',
  },
  {
    ...mongodb,
    file: 'src/store/mongodb/clean-up.ts',
    only: 'cleanUp:',
    name: 'mongodb cleans up under a lease',
    find: "{ $match: { $expr: { $lte: [{ $ifNull: ['$leaseUntil', 0] }, now()] } } },",
    replace: '',
  },
  {
    ...mongodb,
    file: 'src/store/mongodb/purge.ts',
    only: 'purge:',
    name: 'mongodb purges what is at work',
    find: '{ $match: { active: [], unclean: [] } },',
    replace: '',
  },
]
