import { whyNoApiServer } from '../external/kubernetes.ts'
import type { Mutation } from './mutation.ts'

const statuses = {
  suite: ['src/sandbox/kubernetes/pod-status.test.ts'],
  file: 'src/sandbox/kubernetes/pod-status.ts',
}
const crash = { suite: ['test/kubernetes/crash.test.ts'] }
const failures = { suite: ['test/kubernetes/failures.test.ts'] }
const retries = { suite: ['test/kubernetes/retries.test.ts'], file: 'src/kubernetes/cluster.ts' }

/** They need an API server. */
const onServer: readonly Mutation[] = [
  {
    ...crash,
    name: 'a sandbox in a cluster that was removed can be started again',
    file: 'src/sandbox/kubernetes/start.ts',
    find: "if (found?.kind === 'removed') throw wasRemoved(spec.name)",
    replace: "if (found?.kind === 'removed') await records.forget(spec.name)",
  },
  {
    ...crash,
    name: 'a namespace that nobody has noted is left in the cluster',
    file: 'src/sandbox/kubernetes/leftovers.ts',
    find: "each !== undefined || now - Date.parse(metadata.creationTimestamp ?? '') > abandonedAfter",
    replace: 'each !== undefined',
  },
  {
    ...failures,
    name: 'a pod that somebody has deleted can be made again',
    file: 'src/sandbox/kubernetes/pod.ts',
    find: "finalizers: ['purser.dev/sandbox'],",
    replace: '',
  },
  {
    ...failures,
    name: 'whoever uses the broker may have bundles run everywhere in the cluster',
    file: 'src/sandbox/kubernetes/authorize.ts',
    find: 'if (status?.allowed !== true)',
    replace: 'if (status === null)',
  },
  {
    ...failures,
    name: 'what the cluster refuses leaves a namespace',
    file: 'src/sandbox/kubernetes/kubernetes-runtime.ts',
    find: "if (failure instanceof SandboxRefusedError && found?.kind === 'live') await remove(name).catch(() => undefined)",
    replace: '',
  },
]

/** The guards of bundles in a cluster: they run once, for whom they may, and no answer is never an end. */
export const kubernetesMutations: readonly Mutation[] = [
  {
    ...statuses,
    name: 'a node that does not answer is taken for lost at once',
    find: 'return silent && now - started > time + graceMs',
    replace: 'return silent',
  },
  {
    ...statuses,
    name: 'an image is waited for without end',
    find: '(trouble.final || waited > patience.start)',
    replace: 'trouble.final',
  },
  {
    ...statuses,
    name: 'a pod that somebody has deleted is taken for one that ended by itself',
    find: 'metadata.deletionTimestamp !== undefined && [137, 143].includes(exitCode)',
    replace: 'metadata.deletionTimestamp === null',
  },
  {
    ...retries,
    name: 'a cluster that asks to be left alone is asked at once',
    find: 'Math.max(asked, ',
    replace: 'Math.max(0, ',
  },
  ...(whyNoApiServer() === undefined ? onServer : []),
]
