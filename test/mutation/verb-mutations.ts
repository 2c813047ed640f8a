import type { Mutation } from './mutation.ts'

const abandon = { file: 'src/domain/decide-abandon.ts', suite: ['test/verbs/abandon.test.ts'] }
const judge = { file: 'src/domain/judge-verb.ts', suite: ['test/store/memory.test.ts'], only: 'verbs:' }
const operations = { file: 'src/domain/decide-verb.ts', suite: ['test/verbs/operations.test.ts'] }
const copying = { replace: '', only: 'verbs: a retry is' }
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
    find: "'/admin/instances/:id/abandon': { method: 'POST', role: 'admin'",
    replace: "'/admin/instances/:id/abandon': { method: 'POST', role: 'operator'",
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
  {
    name: 'a verb does what the table refuses for the state',
    ...judge,
    find: 'refusals[verb][state] ?? refusals[verb][action]',
    replace: 'refusals[verb][action]',
  },
  {
    name: 'a verb does what the table refuses for the action',
    ...judge,
    find: 'refusals[verb][state] ?? refusals[verb][action]',
    replace: 'refusals[verb][state]',
  },
  {
    name: 'an operation that waits for a drain is run before it',
    ...judge,
    find: "return operation.attempt === 0 ? 'It waits until what was before it is surely over.' : undefined",
    replace: 'return undefined',
  },
  {
    name: 'what was followed by another operation is tried again',
    ...judge,
    find: "if (resource.lastOperationId !== operation.id) return 'A later operation has followed it.'",
    replace: '',
  },
  {
    name: 'an operation is tried again beside another',
    ...judge,
    find: 'if (other !== undefined) return busy(',
    replace: 'if (other === null) return busy(',
  },
  {
    name: 'a deprovision is tried again under live bindings',
    ...judge,
    find: "if (operation.action === 'deprovision' && liveBindings > 0 && !cascade)",
    replace: "if (operation.action === 'observe')",
  },
  {
    name: 'an operation that an operator ends fails beside its holder',
    ...operations,
    find: 'notBefore: isRunning ? Math.max(now, leaseUntil) :',
    replace: 'notBefore: isRunning ? now :',
  },
  {
    name: 'an operation that an operator ends leaves no doubt',
    file: 'src/domain/decide-verb.ts',
    find: 'unclean: before.unclean || isRunning,',
    replace: '',
    suite: ['test/store/memory.test.ts'],
    only: 'verbs:',
  },
  {
    name: 'an operation that an operator has ended is run once more',
    file: 'src/engine/run-operation.ts',
    find: 'const isOver = ended !== undefined || ',
    replace: 'const isOver = ',
    suite: ['test/verbs/operations.test.ts'],
  },
  {
    name: 'the platform is told another reason than the one of the operator',
    file: 'src/engine/run-operation.ts',
    find: 'if (ended !== undefined) return ended',
    replace: '',
    suite: ['test/verbs/operations.test.ts'],
  },
  {
    name: 'a retry trusts the steps of a deletion in doubt',
    file: 'src/domain/decide-verb.ts',
    find: 'const isTrue = !isDeletion || !failed.unclean',
    replace: 'const isTrue = true',
    suite: ['test/store/memory.test.ts'],
    only: 'verbs:',
  },
  {
    name: 'a retry does its steps once more (memory)',
    file: 'src/store/memory/tables.ts',
    find: 'if (change.copySteps !== undefined) this.#copySteps(change.copySteps)',
    suite: ['test/store/memory.test.ts'],
    ...copying,
  },
  {
    name: 'a retry does its steps once more (sqlite)',
    file: 'src/store/sqlite/accept.ts',
    find: 'if (change.copySteps !== undefined) statements.copySteps.run(change.copySteps.to, change.copySteps.from)',
    suite: ['test/store/sqlite.test.ts'],
    ...copying,
  },
  {
    name: 'a retry begins with the steps that failed',
    file: 'src/store/sqlite/statements.ts',
    find: "where operation_id = ? and state = 'done' order by rowid`",
    replace: 'where operation_id = ? order by rowid`',
    suite: ['test/store/sqlite.test.ts'],
    only: 'verbs: a retry is',
  },
  {
    name: 'what is sealed of an operation is shown',
    file: 'src/broker/verbs/show.ts',
    find: '({ output: _output, shown: _shown, ...step }: Step)',
    replace: '(step: Step)',
    suite: ['test/verbs/operations.test.ts'],
  },
  {
    name: 'a list shows more than a page',
    file: 'src/http/admin/lists.ts',
    find: 'wholeNumber(1, 200)',
    replace: 'wholeNumber(0, 500)',
    suite: ['test/verbs/operations.test.ts'],
  },
  {
    name: 'a misspelt filter lists everything',
    file: 'src/http/admin/read-fields.ts',
    find: "unknown: () => 'error'",
    replace: "unknown: () => 'ignore'",
    suite: ['test/verbs/operations.test.ts'],
  },
]
