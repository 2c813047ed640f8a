import { describe, expect, it } from 'vitest'
import { type ContainerStatus, isOver, type Pod, toStatus, waitingFor, whyNoFiles } from './pod-status.ts'

const created = Date.UTC(2026, 0, 1)
const iso = (ms: number) => new Date(ms).toISOString()
const minutes = (count: number) => created + count * 60_000

function podWith(
  status: Pod['status'],
  more: Partial<Pod['metadata']> = {},
  nodeName: string | undefined = 'node-1',
): Pod {
  const metadata = { name: 'o-1', namespace: 'n', creationTimestamp: iso(created), ...more }
  return { metadata, spec: nodeName === undefined ? {} : { nodeName }, status }
}

const bundle = (state: ContainerStatus['state'], name = 'bundle') => ({ containerStatuses: [{ name, state }] })
const waiting = (reason: string, message = '') =>
  podWith({ phase: 'Pending', ...bundle({ waiting: { reason, message } }) })
const ended = (exitCode: number, reason = 'Error') => bundle({ terminated: { exitCode, reason } })
const running = bundle({ running: { startedAt: iso(created) } })
const ready = [{ type: 'Ready', status: 'True' }]
const at = (now: number) => ({ now, start: 5 * 60_000, time: 10 * 60_000 })
const soon = at(minutes(1))

describe('what the cluster says about a pod', () => {
  it.each([
    ['an exit code', podWith({ phase: 'Running', ...ended(8) }), { kind: 'exited', code: 8 }],
    [
      'out of memory',
      podWith({ phase: 'Failed', ...ended(137, 'OOMKilled') }),
      { kind: 'exited', code: 137, stopped: 'memory' },
    ],
    ['a running bundle', podWith({ phase: 'Running', conditions: ready, ...running }), { kind: 'running' }],
    ['a pod without a node yet', podWith({ phase: 'Pending' }, {}, undefined), { kind: 'running' }],
    [
      'eviction',
      podWith({ phase: 'Failed', reason: 'Evicted', message: 'low on memory' }),
      { kind: 'lost', reason: /evicted/ },
    ],
    [
      'eviction after an end',
      podWith({ phase: 'Failed', reason: 'Evicted', ...ended(137) }),
      { kind: 'lost', reason: /evicted/ },
    ],
    [
      'a node that was shut down',
      podWith({ phase: 'Failed', reason: 'NodeShutdown' }),
      { kind: 'lost', reason: /shut down/ },
    ],
    [
      'deletion by hand',
      podWith({ phase: 'Failed', ...ended(137) }, { deletionTimestamp: iso(created) }),
      { kind: 'lost', reason: /deleted while it ran/ },
    ],
    [
      'the deadline',
      podWith({ phase: 'Failed', reason: 'DeadlineExceeded', ...ended(137) }),
      { kind: 'exited', code: 137, stopped: 'time' },
    ],
    [
      'one that printed more than its node has room for',
      podWith({
        phase: 'Failed',
        reason: 'Evicted',
        message: 'Container bundle exceeded its local ephemeral storage limit "105M". ',
        ...ended(137, 'Error'),
      }),
      { kind: 'exited', code: 137, stopped: 'output' },
    ],
    [
      'one that printed still more',
      podWith({
        phase: 'Failed',
        reason: 'Evicted',
        message: 'Pod ephemeral local storage usage exceeds the total limit of containers 472M. ',
        ...ended(137, 'Error'),
      }),
      { kind: 'exited', code: 137, stopped: 'output' },
    ],
    [
      'one that wrote more than it may',
      podWith({
        phase: 'Failed',
        reason: 'Evicted',
        message: 'Usage of EmptyDir volume "temporary" exceeds the limit "1M". ',
        ...ended(137, 'Error'),
      }),
      { kind: 'lost', reason: /evicted/ },
    ],
    [
      'an end that nobody saw',
      podWith({ phase: 'Failed', ...ended(137, 'ContainerStatusUnknown') }),
      { kind: 'lost', reason: /failed/ },
    ],
    [
      'an entry point that is not there',
      podWith({ phase: 'Failed', ...ended(128, 'StartError') }),
      { kind: 'refused', reason: /entry point/ },
    ],
    ['an image without a right name', waiting('InvalidImageName'), { kind: 'refused', reason: /wrong name/ }],
    [
      'an image that may not be pulled',
      waiting('ErrImageNeverPull'),
      { kind: 'refused', reason: /bundles\.pull is never/ },
    ],
    [
      'an image that is not in its registry',
      waiting('ImagePullBackOff', 'manifest unknown'),
      { kind: 'refused', reason: /cannot be pulled/ },
    ],
    ['a registry that does not answer', waiting('ImagePullBackOff', 'dial tcp: i/o timeout'), { kind: 'running' }],
    ['nothing at all', undefined, { kind: 'lost', reason: /namespace is gone/ }],
  ] as const)('%s', (_what, pod, expected) => {
    const status = toStatus(pod, soon)
    expect(status).toMatchObject({
      ...expected,
      ...('reason' in expected ? { reason: expect.stringMatching(expected.reason) } : {}),
    })
  })

  it('a registry that does not answer is waited for, and no longer than that', () => {
    const pod = waiting('ImagePullBackOff', 'dial tcp: i/o timeout')
    expect(toStatus(pod, at(minutes(4))).kind).toBe('running')
    expect(toStatus(pod, at(minutes(6)))).toEqual({ kind: 'refused', reason: 'its image cannot be pulled' })
  })

  it('a pod that no node has room for is waited for as long, and says so meanwhile', () => {
    const conditions = [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: '0/3 nodes' }]
    const pod = podWith({ phase: 'Pending', conditions }, {}, undefined)
    expect(toStatus(pod, at(minutes(4))).kind).toBe('running')
    expect(waitingFor(pod)).toBe('no node has room for its pod')
    expect(toStatus(pod, at(minutes(6)))).toEqual({ kind: 'refused', reason: 'no node has room for its pod' })
  })

  it('a node that does not answer may still run it, until its time is over', () => {
    const silent = podWith({ phase: 'Running', reason: 'NodeLost', ...running }, { deletionTimestamp: iso(created) })
    expect(toStatus(silent, at(minutes(11))).kind).toBe('running')
    expect(toStatus(silent, at(minutes(13)))).toMatchObject({ kind: 'lost', reason: expect.stringMatching(/node/) })
    const keeper = { name: 'keeper', state: { waiting: { reason: 'ImagePullBackOff' } } }
    const unkept = podWith({ phase: 'Running', containerStatuses: [...running.containerStatuses, keeper] })
    expect(toStatus(unkept, at(minutes(13)))).toMatchObject({
      kind: 'lost',
      reason: expect.stringMatching(/what keeps its time has not started \(see "bundles.kubernetes.toolsImage"\)/),
    })
    const alive = podWith({ phase: 'Running', conditions: ready, ...running })
    expect(toStatus(alive, at(minutes(13))).kind).toBe('running')
  })

  it('shows no platform what the cluster says in its own words', () => {
    const status = toStatus(waiting('ImagePullBackOff', 'registry.internal/secret-name: not found'), soon)
    expect(JSON.stringify(status)).not.toContain('registry.internal')
  })

  it.each([
    ['the first process of its pod is taken for process 0', 'runc create failed: lstat /proc/0/ns/ipc: no such file'],
    ['the container engine takes too long', 'failed to create shim task: context deadline exceeded: unknown'],
  ])('what its node could not start, because %s, may be run in another pod', (_why, message) => {
    const fault = { terminated: { exitCode: 128, reason: 'StartError', message } }
    const again = { kind: 'refused', reason: 'its node could not start it', again: true }
    expect(toStatus(podWith({ phase: 'Failed', ...bundle(fault) }), soon)).toEqual(again)
    const initContainerStatuses = [{ name: 'inputs', state: fault }]
    expect(toStatus(podWith({ phase: 'Failed', initContainerStatuses }), soon)).toEqual(again)
  })

  it('inputs that could not be laid out: nothing has begun', () => {
    const initContainerStatuses = [
      { name: 'inputs', state: { terminated: { exitCode: 1, message: 'tar: short read' } } },
    ]
    expect(toStatus(podWith({ phase: 'Failed', initContainerStatuses }), soon)).toEqual({
      kind: 'refused',
      reason: 'its inputs could not be laid out',
    })
    const evicted = podWith({ phase: 'Failed', reason: 'Evicted', initContainerStatuses })
    expect(toStatus(evicted, soon)).toMatchObject({ kind: 'lost' })
  })

  it('a keeper that could not be started keeps no bundle from it', () => {
    const keeper = { name: 'keeper', state: { terminated: { exitCode: 128, reason: 'StartError' } } }
    const creating = { name: 'bundle', state: { waiting: { reason: 'ContainerCreating' } } }
    const pod = podWith({ phase: 'Pending', containerStatuses: [keeper, creating] })
    expect(toStatus(pod, soon)).toEqual({ kind: 'running' })
  })

  describe('the files of a bundle that has ended', () => {
    const left = (keeper: ContainerStatus['state'], restartPolicy?: 'Always', phase = 'Running'): Pod => {
      const terminated = { exitCode: 0, reason: 'Completed', finishedAt: iso(minutes(60)) }
      const containerStatuses = [
        { name: 'bundle', state: { terminated } },
        { name: 'keeper', state: keeper },
      ]
      const pod = podWith({ phase, containerStatuses })
      return { ...pod, spec: { containers: [{ name: 'bundle' }, { name: 'keeper', restartPolicy }] } }
    }
    const minutesLater = (minute: number) => ({ now: minutes(60 + minute), start: 5 * 60_000 })
    const killed = { terminated: { exitCode: 137 } }

    it('are read where the keeper runs, or will run again', () => {
      expect(whyNoFiles(left({ running: {} }, 'Always'), minutesLater(99))).toBeUndefined()
      expect(whyNoFiles(left(killed, 'Always'), minutesLater(4))).toBeUndefined()
      expect(whyNoFiles(left({ waiting: { reason: 'CrashLoopBackOff' } }, 'Always'), minutesLater(4))).toBeUndefined()
    })

    it('are given up where it does not come in time, is not started again, or the pod is over', () => {
      for (const state of [killed, { waiting: { reason: 'CrashLoopBackOff' } }])
        expect(whyNoFiles(left(state, 'Always'), minutesLater(6))).toMatch(
          /has not started; see "bundles.kubernetes.toolsImage"/,
        )
      expect(whyNoFiles(left(killed), minutesLater(1))).toMatch(/went with its pod/)
      expect(whyNoFiles(left({ running: {} }, 'Always', 'Failed'), minutesLater(1))).toMatch(/went with its pod/)
    })
  })

  it('everything in it is over when it has failed, has succeeded, or never came to a node', () => {
    expect(isOver(podWith({ phase: 'Running', ...ended(0) }))).toBe(false)
    expect(isOver(podWith({ phase: 'Failed' }))).toBe(true)
    expect(isOver(podWith({ phase: 'Pending' }, { deletionGracePeriodSeconds: 0 }))).toBe(true)
  })
})
