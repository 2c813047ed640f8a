import type { Mutation } from './mutation.ts'

const abandon = { file: 'src/domain/decide-abandon.ts', suite: ['test/verbs/abandon.test.ts'] }
const move = { file: 'src/domain/decide-move.ts', suite: ['test/verbs/move.test.ts'] }

/** What operators do by hand. */
export const verbMutations: readonly Mutation[] = [
  {
    name: 'an instance is abandoned under its bindings',
    ...abandon,
    find: 'if (!bindings && Math.max(liveBindings, busyBindings) > 0)',
    replace: 'if (Number.isNaN(liveBindings))',
  },
  {
    name: 'what is created after an abandoned operation does not wait for its calls',
    ...abandon,
    find: 'return mayLand ? Math.max(before ?? 0, held + sweepDelay) : before',
    replace: 'return mayLand ? before : before',
  },
  {
    name: 'an abandoned operation goes on',
    ...abandon,
    find: 'operations: [ended, answers === ended',
    replace: 'operations: [undefined, answers === ended',
  },
  {
    name: 'an instance that was abandoned is abandoned again',
    ...abandon,
    find: "if (phase === 'deleted' && !isHeld)",
    replace: "if (phase === 'creating' && !isHeld)",
  },
  {
    name: 'a deletion that is still swept cannot be abandoned',
    ...abandon,
    find: 'const isHeld = operation !== undefined || ',
    replace: 'const isHeld = ',
  },
  {
    name: 'an instance that is abandoned keeps its revision',
    file: 'src/domain/settle-instance.ts',
    find: 'const cleared = { revisionId: undefined, ',
    replace: 'const cleared = { ',
    suite: ['test/verbs/move.test.ts'],
  },
  {
    name: 'an instance moves while something is at work on it',
    ...move,
    find: "if (operation !== undefined) throw busy(operation, 'The instance')",
    replace: '',
  },
  {
    name: 'an instance moves while a binding is at work with its revision',
    ...move,
    find: 'if (snapshot.busyBindings + snapshot.sweptBindings > 0)',
    replace: 'if (snapshot.busyBindings < 0)',
  },
  {
    name: 'an instance moves to a revision of another service',
    ...move,
    find: 'if (to.serviceId !== serviceId)',
    replace: "if (to.serviceId === '')",
  },
  {
    name: 'an instance moves to a revision without its plan',
    ...move,
    find: 'if (!to.offering.plans.some(plan => plan.id === planId))',
    replace: "if (planId === '')",
  },
  {
    name: 'an operator abandons instances',
    file: 'src/http/admin/routes.ts',
    find: "role: 'admin'",
    replace: "role: 'operator'",
    suite: ['test/http/admin.test.ts'],
  },
  {
    name: 'a viewer may do what operators do',
    file: 'src/http/admin/admin-app.ts',
    find: 'operatorRoles.slice(operatorRoles.indexOf(least))',
    replace: 'operatorRoles',
    suite: ['test/http/admin.test.ts'],
  },
  {
    name: 'what cannot be taken back is not asked about',
    file: 'src/cli/confirm.ts',
    find: 'if (isSure === true) return',
    replace: 'if (isSure !== false) return',
    suite: ['test/cli/instances.test.ts'],
  },
]
