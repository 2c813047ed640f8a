/** The guards that keep the promise with many replicas, how each is switched off, and who then turns red. */
import type { SourceChange } from '../bundler.ts'
import type { DatabaseKind } from './databases.ts'
import type { scenarios } from './scenarios.ts'

export interface Guard {
  readonly name: string
  /** Real processes show it. */
  readonly storm?: {
    readonly on: DatabaseKind
    readonly scenario: keyof typeof scenarios
    readonly changes: readonly SourceChange[]
    readonly finds: RegExp
  }
  /** Mutations of test/mutation that switch off the same: found there by the model, or by tests on a clock of their own. */
  readonly mutations?: readonly string[]
}

const functions = 'src/store/postgres/functions.ts'
const withoutVersion: readonly SourceChange[] = [
  {
    name: 'a decision is written whatever has changed since',
    file: functions,
    find: 'version_of(p_instance, p_binding, p_predecessor) <> p_version',
    replace: 'version_of(p_instance, p_binding, p_predecessor) is null',
  },
  {
    name: 'and so are many',
    file: 'src/store/postgres/batch-functions.ts',
    find: `r.place, \${versionOfRow(schema)} = r.version`,
    replace: 'r.place, true',
  },
]

export const guards: readonly Guard[] = [
  {
    name: 'a write of a worker carries its fence',
    storm: {
      on: 'postgres',
      scenario: 'zombie',
      changes: [
        {
          name: 'postgres without fences',
          file: functions,
          find: "o.id = p_operation and o.fence = p_fence and o.state = 'running'",
          replace: "o.id = p_operation and o.state = 'running'",
        },
      ],
      finds: /under fence/,
    },
    mutations: ['sqlite checkpoint without its fence', 'memory checkpoint without its fence'],
  },
  {
    name: 'a write of a worker carries its fence, in MongoDB',
    storm: {
      on: 'mongodb',
      scenario: 'zombie',
      changes: [
        {
          name: 'mongodb without fences',
          file: 'src/store/mongodb/progress.ts',
          find: "return { _id: operation, fence, state: 'running' }",
          replace: "return { _id: operation, ...(fence < 0 ? { fence } : {}), state: 'running' }",
        },
      ],
      finds: /under fence/,
    },
  },
  {
    name: 'drain: a deletion waits for the lease that it takes over from',
    storm: {
      on: 'postgres',
      scenario: 'deafHolder',
      changes: [
        {
          name: 'no drain',
          file: 'src/domain/intent.ts',
          find: 'notBefore: Math.max(by.notBefore, held)',
          replace: 'notBefore: by.notBefore',
        },
      ],
      finds: /disk is in the backend, and the ledger has nothing that needs it/,
    },
    mutations: ['no drain: a deletion starts at once'],
  },
  {
    name: 'sweep: a deletion in doubt is done once more',
    storm: {
      on: 'postgres',
      scenario: 'lateCall',
      changes: [
        {
          name: 'no sweep',
          file: 'src/domain/sweep.ts',
          find: 'if (!deletion.unclean && unbind.length === 0) return undefined',
          replace: 'return undefined',
        },
      ],
      finds: /network is in the backend, and the ledger has nothing that needs it/,
    },
    mutations: ['no sweep', 'no sweep after a sweep that lost a call'],
  },
  {
    name: 'a call that outlives its lease leaves a doubt',
    mutations: [
      'a lost lease leaves no doubt',
      'a call without an answer leaves no doubt',
      'a stop in the middle of a call leaves no doubt',
      'a superseded operation leaves no doubt',
    ],
  },
  {
    name: 'a name has one process at a time, and who may have lost it begins no call',
    mutations: [
      'a replica that may have lost its name begins calls',
      'a name is taken from a process that lives',
      'postgres takes a name from a process that lives',
      'mongodb takes a name from a process that lives',
    ],
  },
  {
    name: 'a creation begins when what was deleted under its id is swept',
    mutations: [
      'a creation begins beside the sweep of what was deleted under its id',
      'a creation sweeps before the late calls have landed',
      'a sweep that a creation does first is not swept once more',
      'a sweep that changes hands leaves no doubt',
    ],
  },
  {
    name: 'a ledger that went back in time is noticed, and two holders never have the same fence',
    mutations: [
      'postgres gives out fences again after a loss',
      'postgres takes what others have written since for what is lost',
      'postgres keeps leases from before a loss',
      'postgres goes on with what was begun before a loss',
    ],
  },
  { name: 'a call ends with its lease', mutations: ['a holder works on when its lease is over'] },
  {
    name: 'a decision is written only if what it was made from is still so',
    storm: { on: 'postgres', scenario: 'race', changes: withoutVersion, finds: /answered 500/ },
  },
  {
    name: 'one active operation of a resource, by a unique index: the last to stop it where all else fails',
    storm: {
      on: 'postgres',
      scenario: 'race',
      changes: [
        ...withoutVersion,
        {
          name: 'no unique index',
          file: 'src/store/postgres/migrations.ts',
          find: 'create unique index operation_one_active',
          replace: 'create index operation_one_active',
        },
      ],
      finds: /was accepted beside/,
    },
    mutations: ['sqlite without its unique index', 'memory without its unique index'],
  },
]
