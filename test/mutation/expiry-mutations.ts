import type { Mutation } from './mutation.ts'

const decision = { file: 'src/domain/decide-expiry.ts', suite: ['test/engine/expiry.test.ts'] }
const domain = ['test/domain/decide-expiry.test.ts']

/** The guards of bindings that expire. */
export const expiryMutations: readonly Mutation[] = [
  {
    ...decision,
    name: 'what was told already is told again',
    find: 'if (due === undefined || due > now) return { answer: {} }',
    replace: 'if (due === undefined) return { answer: {} }',
    suite: domain,
  },
  {
    ...decision,
    name: 'a binding has expired again with every look',
    find: `const told = due <= expiresAt ? 'expired' : undefined`,
    replace: `const told = due <= now ? 'expired' : undefined`,
    only: 'did not ask for more',
  },
  {
    ...decision,
    name: 'an expiry takes no notice of whoever is at work on the binding',
    find: 'const isBusy = snapshot.bindingOperation !== undefined || isHeld(snapshot.operation)',
    replace: 'const isBusy = false',
    suite: domain,
  },
  {
    ...decision,
    name: 'an unbind that failed never comes again',
    find: 'noticeAt: now + intent.pause })',
    replace: 'noticeAt: now + 1e12 })',
    only: 'comes again',
  },
  {
    file: 'src/broker/chores/expire-bindings.ts',
    suite: decision.suite,
    name: 'what expires is unbound though nobody asked for it',
    find: 'if (service?.bindings.unbindExpired !== true) return undefined',
    replace: 'if (service === undefined) return undefined',
    only: 'did not ask for more',
  },
  {
    file: 'src/broker/chores/expire-bindings.ts',
    suite: decision.suite,
    name: 'the chore passes through a closed gate',
    find: '    unbinding?.caller,\n',
    replace: '',
    only: 'closed gate',
  },
  {
    file: 'src/store/postgres/expiry-schema.ts',
    suite: ['test/store/postgres.test.ts'],
    needs: 'postgres',
    name: 'a text that PostgreSQL cannot read keeps a binding from being written',
    find: '(0000|[dD][89a-fA-F][0-9a-fA-F]{2})',
    replace: '(ffff)',
    only: 'expiry: what comes from outside',
  },
  {
    file: 'src/domain/expiry.ts',
    suite: ['test/store/memory.test.ts'],
    name: 'a deleted binding is due for ever',
    find: `return phase === 'deleted' ? undefined : noticeAt`,
    replace: 'return phase === undefined ? undefined : noticeAt',
    only: 'expiry: bindings are due',
  },
]
