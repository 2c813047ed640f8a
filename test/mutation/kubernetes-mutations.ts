import type { Mutation } from './mutation.ts'

const statuses = {
  suite: ['src/sandbox/kubernetes/pod-status.test.ts'],
  file: 'src/sandbox/kubernetes/pod-status.ts',
}
const onServer = { needs: 'apiServer' } as const
// One test of each file: every guard starts an API server of its own.
const crash = (only: string) => ({ ...onServer, suite: ['test/kubernetes/crash.test.ts'], only })
const failures = (only: string) => ({ ...onServer, suite: ['test/kubernetes/failures.test.ts'], only })
const retries = { suite: ['test/kubernetes/retries.test.ts'], file: 'src/kubernetes/cluster.ts' }

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
    ...statuses,
    name: 'what prints too much is taken for one that was evicted',
    find: "if (reason === 'Evicted' && printedTooMuch.test(message))",
    replace: 'if (reason === null)',
  },
  {
    ...statuses,
    name: 'a keeper that is gone for a moment takes the files with it',
    find: "terminated !== undefined && keeper?.restartPolicy !== 'Always'",
    replace: 'terminated !== undefined',
  },
  {
    ...statuses,
    name: 'files are waited for though nobody will read them',
    find: 'running === undefined && waited > start',
    replace: 'running === null',
  },
  {
    ...statuses,
    name: 'what a node could not start is taken for a broken image',
    find: 'return faultOfNode.test(message)',
    replace: "return message === 'never'",
  },
  {
    ...statuses,
    name: 'a bundle whose inputs were not laid out is taken for one that ran',
    find: 'unpacked !== undefined && unpacked.exitCode !== 0',
    replace: 'unpacked === null',
  },
  {
    suite: ['src/driver/bundle/verdict.test.ts'],
    file: 'src/driver/bundle/verdict.ts',
    name: 'a bundle that its node could not start fails its operation',
    find: 'return ended.again',
    replace: 'return ended.again === null',
  },
  {
    ...retries,
    name: 'a cluster that asks to be left alone is asked at once',
    find: 'Math.max(asked, ',
    replace: 'Math.max(0, ',
  },
  {
    suite: ['test/kubernetes/watch-faults.test.ts'],
    only: 'lists anew where its version has expired',
    file: 'src/kubernetes/watch.ts',
    name: 'a watch goes on from a version that has expired',
    find: "if (event.type === 'ERROR') return undefined",
    replace: "if (event.type === 'ERROR') break",
  },

  // On an API server.
  {
    ...crash('leaves nothing when it dies while it removes'),
    name: 'a sandbox in a cluster that was removed can be started again',
    file: 'src/sandbox/kubernetes/start.ts',
    find: "if (found?.kind === 'removed') throw wasRemoved(spec.name)",
    replace: "if (found?.kind === 'removed') await records.forget(spec.name)",
  },
  {
    ...crash('leaves a namespace that is collected'),
    name: 'a namespace that nobody has noted is left in the cluster',
    file: 'src/sandbox/kubernetes/leftovers.ts',
    find: "each !== undefined || now - Date.parse(metadata.creationTimestamp ?? '') > abandonedAfter",
    replace: 'each !== undefined',
  },
  {
    ...failures('a namespace that somebody deletes'),
    name: 'a pod that somebody has deleted can be made again',
    file: 'src/sandbox/kubernetes/pod.ts',
    find: "finalizers: ['purser.dev/sandbox'],",
    replace: '',
  },
  {
    ...failures('a cluster that does not know'),
    name: 'an older cluster runs no bundles',
    file: 'src/sandbox/kubernetes/start.ts',
    find: "if (!isStatus(error, 422) || !error.message.includes('restartPolicy')) throw error",
    replace: 'throw error',
  },
  {
    ...failures('a cluster that does not know'),
    name: 'a keeper that was not started is not started again',
    file: 'src/sandbox/kubernetes/pod.ts',
    find: "restartsKeeper ? { restartPolicy: 'Always' } : {}",
    replace: '{}',
  },
  {
    ...onServer,
    suite: ['test/kubernetes/kept-copies.test.ts'],
    only: 'touch nothing that is not a copy',
    name: 'a copy takes the place of what has its name',
    file: 'src/sandbox/kubernetes/kept-copies.ts',
    find: 'metadata.labels?.[copyLabel] !== undefined',
    replace: 'metadata !== undefined',
  },
  {
    ...failures('a node that is gone'),
    name: 'a node that is gone keeps a sandbox from being removed',
    hangs: true,
    file: 'src/sandbox/kubernetes/kubernetes-runtime.ts',
    find: "isEnd(pod) || toStatus(pod, patienceFor(record)).kind === 'lost'",
    replace: 'isEnd(pod)',
  },
  {
    ...failures('one that is refused while another call'),
    name: 'a call that is still on its way makes something in the cluster that nobody removes',
    file: 'src/sandbox/kubernetes/all.ts',
    find: 'const failed = (await Promise.allSettled(calls))',
    replace: 'await Promise.all(calls)\n  const failed = (await Promise.allSettled(calls))',
  },
  {
    ...failures('a node that is gone'),
    name: 'a node that is gone is asked for the log',
    file: 'src/sandbox/kubernetes/kubernetes-runtime.ts',
    find: 'if (tooMuch || isSilent ||',
    replace: 'if (tooMuch ||',
  },
  {
    ...failures('a user without the right'),
    name: 'whoever uses the broker may have bundles run everywhere in the cluster',
    file: 'src/sandbox/kubernetes/authorize.ts',
    find: 'if (status?.allowed !== true)',
    replace: 'if (status === null)',
  },
  {
    ...failures('a target that leads elsewhere'),
    name: 'a bundle gets rights in another namespace than the user was asked about',
    file: 'src/sandbox/kubernetes/target.ts',
    find: '/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(namespace)',
    replace: "namespace !== ''",
  },
  {
    ...failures('a target that is not there'),
    name: 'what the cluster refuses leaves a namespace',
    file: 'src/sandbox/kubernetes/kubernetes-runtime.ts',
    find: "if (failure instanceof SandboxRefusedError && found?.kind === 'live') await remove(name).catch(() => undefined)",
    replace: '',
  },
]
