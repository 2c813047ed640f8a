import type { Mutation } from './mutation.ts'

const limits = { suite: ['src/driver/manifests/limits.test.ts'], file: 'src/driver/manifests/limits.ts' }
const onServer = { needs: 'apiServer', suite: ['test/kubernetes/manifests.test.ts'] } as const
const orphans = { needs: 'apiServer', suite: ['test/kubernetes/manifests-orphans.test.ts'] } as const
const held = { suite: ['src/driver/manifests/held.test.ts'], file: 'src/driver/manifests/held.ts' }
const custom = { needs: 'apiServer', suite: ['test/kubernetes/manifests-custom.test.ts'] } as const
const marks = { suite: ['src/driver/manifests/marks.test.ts'], file: 'src/driver/manifests/marks.ts' }
const shared = { needs: 'apiServer', suite: ['test/kubernetes/manifests-shared.test.ts'] } as const
const bindings = { needs: 'apiServer', suite: ['test/kubernetes/manifests-bindings.test.ts'] } as const
const faults = { needs: 'apiServer', suite: ['test/kubernetes/manifests-faults.test.ts'] } as const

/** The guards of services that consist of objects of a cluster. */
export const manifestMutations: readonly Mutation[] = [
  {
    ...limits,
    name: 'manifests may have objects of any kind',
    find: 'allowed => allowed === full ||',
    replace: "allowed => allowed !== '' ||",
  },
  {
    ...limits,
    name: 'manifests may reach every namespace',
    find: 'limits.namespaces.some(allowed => isMatch(allowed, namespace, target.ofContext))',
    replace: 'limits.namespaces.length > 0',
  },
  {
    name: 'patterns in expressions take as long as they like',
    suite: ['src/expression/template.test.ts'],
    file: 'src/expression/expression.ts',
    find: "if (node.op !== 'rcall' || node.args[0] !== 'matches') return",
    replace: "if (node.op !== 'rcall' || node.args[0] !== '') return",
  },
  {
    name: 'an object that instances share goes with the first of them',
    suite: ['test/manifests/event-flow-simulation.test.ts'],
    file: 'src/driver/manifests/remove.ts',
    find: 'if (ref.shared !== undefined) {',
    replace: "if (ref.shared === '') {",
  },
  {
    ...held,
    name: 'an orphan is as old as its oldest object',
    find: 'Math.max(...held',
    replace: 'Math.min(...held',
  },
  {
    ...held,
    name: 'objects of an orphan are removed in any order',
    find: 'rank(a) - rank(b) || a.order - b.order || ',
    replace: '',
  },
  {
    ...held,
    name: 'what instances share is an orphan',
    find: 'if (!isMade) return undefined',
    replace: '',
  },
  {
    name: 'two replicas give one ledger two ids',
    suite: ['test/manifests/ledger-id.test.ts'],
    file: 'src/broker/ledger-id.ts',
    find: 'if (error instanceof NoteConflictError) return readOrNote(store)',
    replace: 'if (error instanceof NoteConflictError) return made',
    only: 'one for all replicas',
  },

  {
    ...marks,
    name: 'annotations of anybody say whose an object is',
    find: 'if (manager !== `${managerPrefix}${key.slice(forPrefix.length)}`) continue',
    replace: '',
  },
  {
    ...marks,
    name: 'who patches an object is looked at for its neighbours',
    find: 'managedFields.filter(one => one.manager === manager)',
    replace: 'managedFields',
  },
  {
    name: 'of those who share something only the first is asked to look at it',
    suite: ['test/manifests/prompts.test.ts'],
    file: 'src/broker/registries/observe-soon.ts',
    find: "if (answer !== 'not') return answer",
    replace: 'return answer',
  },

  // On an API server.
  {
    ...shared,
    hangs: true,
    only: 'when the instance that made it is gone',
    name: 'nobody is told of a change of what instances share',
    file: 'src/driver/manifests/marks.ts',
    find: 'if (claim !== undefined) found.set(manager, { claim })',
    replace: "if (claim === '') found.set(manager, { claim })",
  },
  {
    ...shared,
    hangs: true,
    only: 'somebody takes back',
    name: 'nobody watches what is only patched',
    file: 'src/driver/manifests/watch-drift.ts',
    find: 'selectorOf(broker, kind.mode)',
    replace: "selectorOf(broker, 'object')",
  },
  {
    ...bindings,
    only: 'whatever their instance has become',
    name: 'an update of an instance changes what its bindings were given',
    file: 'src/driver/manifests/observe.ts',
    find: 'find: () => bound.placeAgain(given, { ...ref, body }),',
    replace: 'find: () => bound.place(given),',
  },
  {
    ...bindings,
    only: 'not fought about',
    name: 'objects of bindings are fought about',
    file: 'src/driver/manifests/observe-one.ts',
    find: 'const { name, count } = observing',
    replace: 'const { count } = observing, name = String(parts.storeNow())',
  },
  {
    ...bindings,
    only: 'an unbind at any call',
    name: 'an unbind of manifests begins beside an observation',
    file: 'src/domain/decide-unbind.ts',
    find: 'const observation = bindingOperation === undefined ? operation : undefined',
    replace: 'const observation = undefined as typeof operation',
  },
  {
    ...shared,
    hangs: true,
    only: 'was deleted, is patched at once',
    name: 'nobody waits for a patched object that is gone',
    file: 'src/driver/manifests/watch-drift.ts',
    find: "if (kind.mode !== 'patch' ||",
    replace: "if (kind.mode === 'patch' ||",
  },
  {
    ...shared,
    only: 'an older version',
    name: 'an upgrade counts as a change by somebody',
    file: 'src/driver/manifests/observe-one.ts',
    find: 'if (isSame(before, live, { unmarked }) ||',
    replace: 'if (isSame(before, live) ||',
  },
  {
    ...onServer,
    only: 'does not touch',
    name: 'manifests take over what others have made',
    file: 'src/driver/manifests/make.ts',
    find: "given.mode === 'object' && found !== undefined && !isOurs",
    replace: "given.mode === 'object' && found === null && !isOurs",
  },
  {
    ...onServer,
    only: 'does not touch',
    name: 'manifests delete what others have made',
    file: 'src/driver/manifests/remove.ts',
    find: 'else if (isOurs(running, ref, live) && live',
    replace: 'else if (live',
  },
  {
    ...onServer,
    only: 'does not fight',
    name: 'what others change is put back without end',
    file: 'src/driver/manifests/observe-one.ts',
    find: 'if (lately.length >= mostRepairs)',
    replace: 'if (lately.length >= 1_000)',
  },
  {
    ...onServer,
    only: 'makes what a provision asks for',
    name: 'an object of a cluster is made before the ledger knows of it',
    file: 'src/driver/manifests/make.ts',
    find: '    await note(running, ref)\n',
    replace: '',
  },
  {
    ...custom,
    only: 'another version',
    name: 'an update to another version of a kind deletes the object',
    file: 'src/driver/manifests/refs.ts',
    find: '[groupOf(apiVersion), kind,',
    replace: '[apiVersion, kind,',
  },
  {
    ...faults,
    only: 'a quota',
    name: 'what a cluster refuses leaves what was made before it',
    file: 'src/driver/manifests/manifests-driver.ts',
    find: 'const waiting = await removeObjects(running, objects)\n',
    replace: 'const waiting = await removeObjects(running, objects.slice(0, 0))\n',
  },
  {
    ...orphans,
    only: 'another broker',
    name: 'objects of another broker are orphans',
    file: 'src/broker/ledger-id.ts',
    find: 'const made = randomUUID()',
    replace: "const made = 'ledger'",
  },
  {
    ...orphans,
    only: 'the ledger has lost',
    name: 'a copy of an object is removed with the orphan',
    file: 'src/driver/manifests/held.ts',
    find: 'if (!isMade) return undefined',
    replace: '',
  },
  {
    ...orphans,
    only: 'the ledger has lost',
    name: 'bindings of an instance that nobody has stay for ever',
    file: 'src/driver/manifests/remove.ts',
    find: 'ownerIdOf({ ...owner, binding }, shared)',
    replace: 'ownerIdOf(owner, shared)',
  },
  {
    ...orphans,
    only: 'cannot be listed',
    name: 'a kind that cannot be listed has no objects',
    file: 'src/driver/manifests/list-held.ts',
    find: 'throw toRefusal(error, made, kind)',
    replace: 'return []',
  },
]
