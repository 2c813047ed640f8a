import type { Mutation } from './mutation.ts'

const judge = { file: 'src/domain/judge-orphan.ts', suite: ['test/verbs/orphans.test.ts'] }

/** The guards of what is removed from backends. */
export const orphanMutations: readonly Mutation[] = [
  {
    ...judge,
    name: 'an orphan that is young is removed',
    find: '> now - minimumAge) return',
    replace: '> now) return',
  },
  {
    ...judge,
    name: 'what was deleted a moment ago is an orphan to remove',
    find: 'Math.max(createdAt, row?.deletedAt ?? 0)',
    replace: 'createdAt',
    only: 'swept',
  },
  {
    ...judge,
    name: 'what nobody knows the age of is removed',
    find: `if (createdAt === undefined) return left('Nobody knows how old it is.')`,
    replace: 'createdAt ??= 0',
  },
  {
    ...judge,
    name: 'what belongs to an instance is an orphan',
    find: `if (isLive(instance) && (bindingId === undefined || isLive(binding))) return { kind: 'owned' }`,
    replace: '',
  },
  {
    file: 'src/domain/decide-remove-orphan.ts',
    suite: judge.suite,
    name: 'an orphan is removed though somebody has its id by now',
    find: `if (judged.kind === 'owned') throw new BrokerError('VerbRefused', 'It belongs to somebody by now.')`,
    replace: '',
    only: 'meanwhile',
  },
  {
    file: 'src/broker/orphans/find-orphans.ts',
    suite: judge.suite,
    name: 'an instance that may have nothing in its backend is called missing',
    find: 'if (service.code.emptyInstances) return',
    replace: '',
    only: 'nothing in the backend',
  },
  {
    file: 'src/domain/decide-sweep.ts',
    suite: judge.suite,
    name: 'what was deleted is swept without what the backend holds of it',
    find: '...restored(row, sweeping.found), ',
    replace: '',
    only: 'swept',
  },
  {
    file: 'src/broker/orphans/remove-orphans.ts',
    suite: judge.suite,
    name: 'a dry run removes orphans',
    find: 'dryRun || !found.removable',
    replace: '!found.removable',
    only: 'own deletions',
  },
]
