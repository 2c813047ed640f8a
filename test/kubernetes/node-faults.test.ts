/** What a node and a cluster do to a sandbox: each has its own words, and leaves nothing behind. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Cluster } from '../../src/kubernetes/cluster.ts'
import { execIn } from '../../src/kubernetes/exec.ts'
import type { KubernetesObject } from '../../src/kubernetes/objects.ts'
import { createKubernetesRuntime } from '../../src/sandbox/kubernetes/kubernetes-runtime.ts'
import type { Pod } from '../../src/sandbox/kubernetes/pod-status.ts'
import type { Runtime, SandboxSpec } from '../../src/sandbox.ts'
import { never } from '../../src/testing/sandbox-contract/subject.ts'
import { connectNode, whyNoNode } from '../external/kubernetes.ts'
import { makeNodeImage, makeScriptImage } from '../external/kubernetes-image.ts'
import { createHome, destroyHome, findPod, leftoversOf, openRuntime, testSettings, toolsImage } from './subject.ts'

const reason = whyNoNode()
const patience = { timeout: 120_000, interval: 500 }

describe.skipIf(reason !== undefined)(
  `a node and its cluster${reason === undefined ? '' : ` (skipped: ${reason})`}`,
  () => {
    let home: string
    let runtime: Runtime

    beforeAll(async () => {
      await makeNodeImage(toolsImage, { entrypoint: ['/bin/sh'] })
      home = await createHome()
      runtime = await openRuntime(home, { disk: 1_000_000 })
    })
    afterAll(() => destroyHome(home))

    const specOf = async (name: string, script: string, more: Partial<SandboxSpec> = {}): Promise<SandboxSpec> => ({
      name,
      labels: {},
      program: { kind: 'image', image: await makeScriptImage(script), pull: 'never' },
      inputs: { action: 'provision', input: {}, extraVars: {}, state: {}, helpers: {}, env: {} },
      limits: { time: 300_000 },
      network: 'allowed',
      ...more,
    })

    // Of tests that run at the same time, each waits with an `expect` of its own.
    it.concurrent('evict what prints too much while no broker looks: that is told as its output', async ({
      expect: own,
    }) => {
      const limits = { time: 300_000, output: 1_000_000 }
      await runtime.start(await specOf('prints', 'yes 0123456789 | head -c 8000000; sleep 600', { limits }))
      const evicted = async () => (await findPod<Pod>(home, 'prints'))?.status
      await own.poll(evicted, { timeout: 120_000, interval: 500 }).toMatchObject({ reason: 'Evicted' })
      expect(await runtime.status('prints')).toEqual({ kind: 'exited', code: 137, stopped: 'output' })
      await runtime.remove('prints')
    })

    it.concurrent('evict what writes too much: that is told as the disk', async () => {
      const limits = { time: 300_000, output: 1_000_000 }
      await runtime.start(await specOf('writes', 'head -c 9000000 /dev/zero > "$TMPDIR/file"; sleep 600', { limits }))
      expect(await runtime.wait('writes', never())).toMatchObject({
        kind: 'lost',
        reason: expect.stringContaining('evicted from its node; see "bundles.kubernetes.disk"'),
      })
      await runtime.remove('writes')
    })

    it.concurrent('throw away the log of what they evict: what was followed until then is kept', async ({
      expect: own,
    }) => {
      const cluster = await connectNode()
      let isFollowed = false
      const stream: Cluster['stream'] = async (path, options) => {
        const answer = await cluster.stream(path, options)
        if (options.query?.follow === true)
          answer.on('data', () => {
            isFollowed = true
          })
        return answer
      }
      const settings = { ...testSettings, namespace: home, disk: 1_000_000 }
      const looking = createKubernetesRuntime({ ...cluster, stream }, settings)
      const limits = { time: 300_000, output: 1_000_000 }
      const script =
        'echo my last words; until [ -f "$BUNDLE_OUTPUT/go" ]; do sleep 0.1; done; head -c 9000000 /dev/zero > "$TMPDIR/file"; sleep 600'
      await looking.start(await specOf('talks', script, { limits }))
      const ended = looking.wait('talks', never())
      await own.poll(() => isFollowed, { timeout: 120_000 }).toBe(true)
      const { namespace = '' } = (await findPod<Pod>(home, 'talks'))?.metadata ?? {}
      const bundle = { namespace, pod: 'talks', container: 'bundle' }
      await execIn(cluster, bundle, ['sh', '-c', 'touch "$BUNDLE_OUTPUT/go"'], 1_000)
      expect(await ended).toMatchObject({ kind: 'lost' })
      const { log } = await looking.collect('talks', [])
      expect(log).toContain('my last words')
      expect(log).toContain('Evicted: ')
      await looking.remove('talks')
    })

    const keeperOf = async (name: string) =>
      (await findPod<Pod>(home, name))?.status?.containerStatuses?.find(each => each.name === 'keeper')

    it.concurrent('start the keeper first: a bundle has no moment without limits', async () => {
      await runtime.start(await specOf('kept', 'cat /proc/[0-9]*/cmdline | grep -q "/run/keepe[r]"'))
      expect(await runtime.wait('kept', never())).toEqual({ kind: 'exited', code: 0 })
      await runtime.remove('kept')
    })

    it.concurrent('pull an image for longer than its bundle may run: the time begins with the bundle', async ({
      expect: own,
    }) => {
      const image = `localhost/purser-test-late:${randomUUID()}`
      const limits = { time: 3_000 }
      await runtime.start(await specOf('late', '', { limits, program: { kind: 'image', image, pull: 'if-missing' } }))
      const state = async (name: string) =>
        (await findPod<Pod>(home, 'late'))?.status?.containerStatuses?.find(each => each.name === name)?.state
      await own.poll(() => state('keeper'), patience).toHaveProperty('running')
      const began = Date.parse((await state('keeper'))?.running?.startedAt ?? '')
      await own.poll(() => Date.now() - began, patience).toBeGreaterThan(limits.time + 2_000)
      expect(await state('bundle')).toHaveProperty('waiting')
      await makeNodeImage(image, { entrypoint: ['/bin/sh', '-c', 'exit 0'] })
      expect(await runtime.wait('late', never())).toEqual({ kind: 'exited', code: 0 })
      await runtime.remove('late')
    })

    it.concurrent('start the keeper again that a bundle has killed: what was left is read', async () => {
      const script = 'sleep 1; kill -9 -1; echo \'{"a":"1"}\' > "$BUNDLE_OUTPUT/credentials.json"'
      await runtime.start(await specOf('kills', script))
      expect(await runtime.wait('kills', never())).toEqual({ kind: 'exited', code: 0 })
      await expect
        .poll(async () => (await runtime.collect('kills', []).catch(() => undefined))?.outputs, patience)
        .toMatchObject({ credentials: { a: '1' }, problems: [] })
      expect((await keeperOf('kills'))?.restartCount).toBeGreaterThan(0)
      await runtime.remove('kills')
    })

    it.concurrent('start it again, and it still knows when the time is over, and why it has ended the bundle', async () => {
      const limits = { time: 20_000 }
      // It is killed for the last time when it ends the bundle, which takes no notice of that at first.
      const script = 'trap "kill -9 -1" TERM; sleep 1; kill -9 -1; while :; do sleep 0.1; done'
      await runtime.start(await specOf('lasts', script, { limits }))
      expect(await runtime.wait('lasts', never())).toEqual({ kind: 'exited', code: 137, stopped: 'time' })
      expect((await keeperOf('lasts'))?.restartCount).toBeGreaterThan(0)
      await runtime.remove('lasts')
    })

    it.concurrent('have not got the image for our programs: the end is known, and why there are no files', async () => {
      const without = await openRuntime(home, { toolsImage: '127.0.0.1:1/none:1', startTimeout: 10_000 })
      await without.start(await specOf('unkept', 'echo hello; exit 3'))
      expect(await without.wait('unkept', never())).toEqual({ kind: 'exited', code: 3 })
      const problems = async () => (await without.collect('unkept', [])).outputs.problems.join()
      await expect
        .poll(() => problems().catch(() => ''), { timeout: 120_000, interval: 1_000 })
        .toContain('see "bundles.kubernetes.toolsImage"')
      expect((await without.collect('unkept', [])).log).toContain('hello')
      await without.remove('unkept')
      expect((await leftoversOf(home)).filter(line => line.includes('unkept'))).toEqual([])
    })

    it.concurrent('keep a namespace that somebody holds on to: removing ends all the same, and is not repeated', async ({
      expect: own,
    }) => {
      const cluster = await connectNode()
      await runtime.start(await specOf('held', 'exit 0'))
      expect(await runtime.wait('held', never())).toEqual({ kind: 'exited', code: 0 })
      const namespace = (await findPod<Pod>(home, 'held'))?.metadata.namespace ?? ''
      const maps = `/api/v1/namespaces/${namespace}/configmaps`
      const body = { metadata: { name: 'holds', finalizers: ['example.com/holds'] } }
      await cluster.call('POST', maps, { body })
      await runtime.remove('held')
      expect((await leftoversOf(home)).filter(line => line.includes(namespace))).toEqual([])
      const found = await cluster.call<KubernetesObject>('GET', `/api/v1/namespaces/${namespace}`)
      expect(found.metadata.deletionTimestamp).toBeDefined()
      expect(await runtime.status('held')).toEqual({ kind: 'absent' })
      // Whoever looks for leftovers neither waits for it nor is kept from anything else.
      await runtime.list()
      const options = { body: { metadata: { finalizers: null } }, contentType: 'application/merge-patch+json' }
      await cluster.call('PATCH', `${maps}/holds`, options)
      const isThere = async () => (await cluster.find(`/api/v1/namespaces/${namespace}`)) !== undefined
      await own.poll(isThere, { timeout: 120_000 }).toBe(false)
    })
  },
)
