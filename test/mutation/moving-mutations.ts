import type { Mutation } from './mutation.ts'

const adopt = { file: 'src/domain/decide-adopt.ts', suite: ['test/moving/adopt.test.ts'], only: 'adopt: memory' }

const read = {
  file: 'src/broker/moving/import-ledger.ts',
  suite: ['test/moving/move.test.ts'],
  only: 'an import: memory',
}
const moment = { suite: ['test/moving/move.test.ts'], only: 'is of one moment' }

/** What comes from other brokers, and goes to other stores. */
export const movingMutations: readonly Mutation[] = [
  {
    name: 'what is adopted goes over an instance that is another one',
    ...adopt,
    find: 'if (others.length === 0) return',
    replace: 'if (others.length >= 0) return',
  },
  {
    name: 'a dry run adopts',
    ...adopt,
    find: "if (intent.dryRun) return { answer: 'adopted' }",
    replace: '',
  },
  {
    name: 'a dry run adopts a binding',
    ...adopt,
    find: 'change: intent.dryRun ? undefined : addBinding',
    replace: 'change: intent.dryRun && false ? undefined : addBinding',
  },
  {
    name: 'an instance is adopted while a deletion of before is swept',
    ...adopt,
    find: 'if (operation !== undefined || snapshot.sweptBindings > 0 || quietAt(known, now) !== undefined)',
    replace: 'if (Number.isNaN(now))',
    suite: ['test/domain/decide-adopt.test.ts'],
    only: undefined,
  },
  {
    name: 'a binding is adopted under an operation of its instance',
    ...adopt,
    find: "if (operation !== undefined && operation.action !== 'observe') throw busy(operation, 'The instance')",
    replace: '',
    suite: ['test/domain/decide-adopt.test.ts'],
    only: undefined,
  },
  {
    name: 'a state that does not fit is adopted',
    file: 'src/broker/verbs/adopt.ts',
    find: 'if (checked === undefined || checked.ok) return',
    replace: 'if (checked === undefined || !checked.ok || checked.ok) return',
    suite: ['test/moving/adopt.test.ts'],
    only: 'adopt: memory',
  },
  {
    name: 'an export that was changed by hand is imported',
    ...read,
    find: 'if (!isRight) refuse(',
    replace: 'if (Number.isNaN(number)) refuse(',
  },
  {
    name: 'an import goes over a ledger',
    ...read,
    find: 'if (!empty) throw',
    replace: 'if (name === undefined) throw',
  },
  {
    name: 'an import goes on with that of another export',
    ...read,
    find: 'if (progress?.id === id) return progress.line',
    replace: 'if (progress !== undefined) return progress.line',
  },
  {
    name: 'an export without secrets is imported',
    ...read,
    find: 'if (!header.secrets)',
    replace: 'if (header.version < 0)',
  },
  {
    name: 'an import writes again what is there',
    ...read,
    find: 'if (number > resumedAfter) await',
    replace: 'await',
  },
  {
    name: 'an import does not see that lines are missing',
    ...read,
    find: 'line.line === number',
    replace: 'line.line !== undefined',
  },
  {
    name: 'an export has secrets that nobody asked for',
    file: 'src/broker/moving/export-ledger.ts',
    find: 'toText(secrets ? row : withoutSealed(row))',
    replace: 'toText(row)',
    suite: ['test/moving/move.test.ts'],
    only: 'an import: memory',
  },
  {
    name: 'a broker starts on half of an import',
    file: 'src/running/start-broker.ts',
    find: 'if (progress === undefined) return',
    replace: 'if (progress === undefined || progress.line > 0) return',
    suite: ['test/moving/commands.test.ts'],
    only: 'half of an import',
  },
  {
    name: 'a backup can be read by others',
    file: 'src/store/sqlite/moving.ts',
    find: "openSync(file, 'wx', 0o600)",
    replace: "openSync(file, 'wx', 0o644)",
    suite: ['test/moving/commands.test.ts'],
    only: 'for its owner only',
  },
  {
    name: 'an export from PostgreSQL sees what is written meanwhile',
    file: 'src/store/postgres/moving.ts',
    find: 'isolation level repeatable read, read only',
    replace: 'isolation level read committed',
    ...moment,
    needs: 'postgres',
  },
  {
    name: 'an export from MongoDB sees what is written meanwhile',
    file: 'src/store/mongodb/moving.ts',
    find: "readConcern: { level: 'snapshot' }",
    replace: "readConcern: { level: 'majority' }",
    ...moment,
    needs: 'mongodb',
  },
]
