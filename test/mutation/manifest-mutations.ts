import { whyNoApiServer } from '../external/kubernetes.ts'
import type { Mutation } from './mutation.ts'

const limits = { suite: ['src/driver/manifests/limits.test.ts'], file: 'src/driver/manifests/limits.ts' }
const onServer = { suite: ['test/kubernetes/manifests.test.ts'] }
const faults = { suite: ['test/kubernetes/manifests-faults.test.ts'] }

/** They need an API server. */
const serverMutations: readonly Mutation[] = [
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
    file: 'src/driver/manifests/observe.ts',
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
    ...faults,
    only: 'a quota',
    name: 'what a cluster refuses leaves what was made before it',
    file: 'src/driver/manifests/manifests-driver.ts',
    find: 'const waiting = await removeObjects(running, objects)\n',
    replace: 'const waiting = await removeObjects(running, objects.slice(0, 0))\n',
  },
]

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
  ...(whyNoApiServer() === undefined ? serverMutations : []),
]
