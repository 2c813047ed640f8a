import type { Mutation } from './mutation.ts'

const only = 'deleted:'
const memory = { file: 'src/store/memory/tables.ts', suite: ['test/store/memory.test.ts'], only }
const sqlite = { suite: ['test/store/sqlite.test.ts'], only }
const postgres = {
  file: 'src/store/postgres/upkeep-functions.ts',
  suite: ['test/store/postgres.test.ts'],
  only,
  needs: 'postgres',
} as const
const mongodb = {
  file: 'src/store/mongodb/change.ts',
  suite: ['test/store/mongodb.test.ts'],
  only,
  needs: 'mongodb',
} as const

/** Nothing sealed outlives what it was about, in any store. */
export const emptiedMutations: readonly Mutation[] = [
  {
    ...memory,
    name: 'memory keeps what the operations of a deleted instance have kept',
    find: `instance?.phase === 'deleted' ? this.operations.allOf(instance.id) : []`,
    replace: '[] as Operation[]',
  },
  {
    ...memory,
    name: 'memory keeps the outputs of steps',
    find: '{ output: _output, ...step }',
    replace: '{ ...step }',
  },
  {
    ...memory,
    name: 'memory takes from an active operation what it needs',
    find: 'operation?.finishedAt === undefined || ',
    replace: 'operation === undefined || ',
  },
  {
    ...sqlite,
    file: 'src/store/sqlite/accept.ts',
    name: 'sqlite keeps what the operations of a deleted binding have kept',
    find: `.filter(({ phase }) => phase === 'deleted')`,
    replace: '.filter(() => false)',
  },
  {
    ...sqlite,
    file: 'src/store/sqlite/accept.ts',
    name: 'sqlite keeps the outputs of steps',
    find: '    statements.emptySteps.run(id)\n',
    replace: '',
  },
  {
    ...sqlite,
    file: 'src/store/sqlite/store.ts',
    name: 'sqlite shows from memory what it has emptied',
    find: '    for (const id of emptied) cache.operations.forget(id)\n',
    replace: '',
  },
  {
    ...sqlite,
    file: 'src/store/sqlite/statements.ts',
    name: 'sqlite takes from an active operation what it needs',
    find: 'const keeps = `finished_at is not null and (',
    replace: 'const keeps = `(',
  },
  {
    ...postgres,
    name: 'postgres keeps what the operations of a deleted resource have kept',
    find: `where o.id = any (v_ended) and`,
    replace: 'where false and',
  },
  {
    ...postgres,
    file: 'src/store/postgres/written-schema.ts',
    name: 'postgres keeps what ends with its resource',
    find: `    new.sealed := '\${emptied.operation}';\n`,
    replace: '',
  },
  {
    ...postgres,
    name: 'postgres takes from an active operation what it needs',
    find: ' and o.finished_at is not null\n    order by',
    replace: '\n    order by',
  },
  {
    ...mongodb,
    name: 'mongodb keeps what the operations of a deleted binding have kept',
    find: `if (binding.phase === 'deleted') await`,
    replace: 'if (false) await',
  },
  {
    ...mongodb,
    name: 'mongodb keeps what ends with its resource',
    find: `isEmptied: isDeleted || phase === 'deleted'`,
    replace: 'isEmptied: false',
  },
  {
    ...mongodb,
    name: 'mongodb takes from an active operation what it needs',
    find: `finishedAt: { $exists: true }, $or: keeping`,
    replace: '$or: keeping',
  },
]
