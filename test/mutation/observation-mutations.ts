import type { Mutation } from './mutation.ts'

const bindings = { suite: ['test/engine/observed-bindings.test.ts'] }
const state = { suite: ['test/engine/observed-state.test.ts'] }

/** The guards between an observation and what is bound and unbound beside it. */
export const observationMutations: readonly Mutation[] = [
  {
    ...bindings,
    name: 'an unbind begins beside an observation',
    file: 'src/domain/decide-unbind.ts',
    find: 'const observation = bindingOperation === undefined ? operation : undefined',
    replace: 'const observation = undefined as typeof operation',
  },
  {
    ...bindings,
    only: 'begins when the observation has stopped',
    name: 'a second unbind overtakes the observation that the first has taken over from',
    file: 'src/broker/wait-for-observations.ts',
    find: 'if (leaseUntil > now)',
    replace: 'if (leaseUntil > now && until < now)',
  },
  {
    ...bindings,
    only: 'where it was ended',
    name: 'a call of an observation that had no answer is forgotten with it',
    file: 'src/domain/settle-observation.ts',
    find: 'uncleanUntil: finishing.unclean ? now + policy.sweepDelay : instance.uncleanUntil,',
    replace: 'uncleanUntil: instance.uncleanUntil,',
  },
  {
    ...bindings,
    only: 'where it was ended',
    name: 'late calls for an instance are not for its bindings',
    file: 'src/domain/interrupt.ts',
    find: 'Math.max(binding.uncleanUntil ?? 0, instance?.uncleanUntil ?? 0) > now',
    replace: '(binding.uncleanUntil ?? 0) > now',
  },
  {
    ...bindings,
    only: 'takes bindings along',
    name: 'bindings that went with their instance are not swept for its observation',
    file: 'src/domain/settle-instance.ts',
    find: 'finishing.unclean || uncleanUntil > begun',
    replace: 'uncleanUntil > begun',
  },
  {
    ...bindings,
    only: 'what their bind was given',
    name: 'an observation may tell the secrets of bindings',
    file: 'src/broker/observed-bindings.ts',
    find: 'run.hide.learn(secretsOf(service.sensitive, { parameters: [], binding }))',
    replace: 'run.hide.learn([])',
  },
  {
    ...bindings,
    only: 'told to no other action',
    name: 'a deprovision is given bindings that nothing keeps as they are',
    file: 'src/broker/action-context.ts',
    find: "bindings: action === 'observe' ? () => observedBindings(options) : undefined,",
    replace: 'bindings: () => observedBindings(options),',
  },
  {
    ...bindings,
    only: 'what their bind was given',
    name: 'an observation looks at bindings that are not ready',
    file: 'src/broker/observed-bindings.ts',
    find: "phase === 'ready'",
    replace: "phase !== 'deleted'",
  },
  {
    ...state,
    only: 'keeps it where',
    name: 'an observation writes back the state that it was given',
    file: 'src/engine/save-state.ts',
    find: "if (action !== 'observe') return",
    replace: "if (action !== 'sweep') return",
  },
  {
    ...state,
    only: 'has taken over from',
    name: 'an observation saves state under a lease that is lost',
    file: 'src/domain/decide-save-state.ts',
    find: 'instance === undefined || !isHeld',
    replace: 'instance === undefined',
  },
  {
    suite: ['test/store/memory.test.ts'],
    only: 'saveState of an observation',
    name: 'an observation saves state without its fence',
    file: 'src/domain/decide-save-state.ts',
    find: 'operation.fence === saving.fence',
    replace: 'true',
  },
]
