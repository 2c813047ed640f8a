import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Cluster } from '../../src/kubernetes/cluster.ts'
import { type ApiServer, startApiServer, whyNoApiServer } from '../external/kubernetes.ts'
import { Crash, idleSpec, mortal, openHome, setBundleState } from './control-plane.ts'

const reason = whyNoApiServer()

describe.skipIf(reason !== undefined)(
  `a broker that dies at any call${reason === undefined ? '' : ` (skipped: ${reason})`}`,
  () => {
    let server: ApiServer
    let cluster: Cluster
    beforeAll(async () => {
      server = await startApiServer()
      cluster = await server.connect()
      await cluster.call('POST', '/api/v1/namespaces', { body: { metadata: { name: 'target' } } })
    })
    afterAll(() => server?.stop())

    const spec = () => idleSpec('o-1', { origin: { bundle: 'dh-x', namespace: 'target' } })

    it.each(['before', 'after'] as const)('has started one pod, and not two (%s the call)', async moment => {
      for (let deathAt = 1; ; deathAt += 1) {
        const { open, pods } = await openHome(cluster)
        const dying = mortal(cluster, deathAt, moment)
        const died = await open({}, dying.cluster)
          .start(spec())
          .then(
            () => false,
            error => error instanceof Crash,
          )
        const early = (await pods()).map(({ metadata }) => metadata.uid)
        await open().start(spec())
        const now = (await pods()).map(({ metadata }) => metadata.uid)
        expect(now, `death at call ${deathAt}`).toHaveLength(1)
        if (early.length > 0) expect(now).toEqual(early)
        await open().remove('o-1')
        expect(await pods()).toEqual([])
        if (!died) return expect(deathAt).toBeGreaterThan(8)
      }
    })

    it.each([
      ['before', 'has not begun'],
      ['after', 'has not begun'],
      ['before', 'has ended'],
      ['after', 'has ended'],
    ] as const)('leaves nothing when it dies while it removes (%s the call, the bundle %s)', async (moment, state) => {
      for (let deathAt = 1; ; deathAt += 1) {
        const { open, leftovers, pods } = await openHome(cluster)
        await open().start(spec())
        if (state === 'has ended') {
          const path = `/api/v1/namespaces/${(await pods())[0]?.metadata.namespace}/pods/o-1`
          await setBundleState(cluster, path, { terminated: { exitCode: 0, reason: 'Completed' } })
        }
        const dying = mortal(cluster, deathAt, moment)
        const died = await open({}, dying.cluster)
          .remove('o-1')
          .then(
            () => false,
            () => true,
          )
        // Others may look first, or the operation may go on.
        if (deathAt % 2 === 0) await open().list()
        await open().remove('o-1')
        await open().list()
        expect(await leftovers(), `death at call ${deathAt}`).toEqual([])
        await expect(open().start(spec())).rejects.toThrow(/was removed/)
        if (!died) return expect(deathAt).toBeGreaterThan(4)
      }
    })

    it('leaves a namespace that is collected, when it dies before it has noted it', async () => {
      const { open, leftovers } = await openHome(cluster)
      await expect(open({}, mortal(cluster, 3, 'before').cluster).start(spec())).rejects.toThrow()
      expect(await leftovers()).toHaveLength(1)
      await open().list()
      expect(await leftovers()).toHaveLength(1)
      const later = { ...cluster, clock: { ...cluster.clock, now: () => cluster.clock.now() + 11 * 60_000 } }
      await open({}, later).list()
      expect(await leftovers()).toEqual([])
    })

    it('can start nothing when it was held up, and the sandbox was removed meanwhile', async () => {
      const { open, pods, leftovers } = await openHome(cluster)
      let letGo = () => {}
      const held = new Promise<void>(resolve => {
        letGo = resolve
      })
      let isHeld = false
      const call: Cluster['call'] = async (method, path, options) => {
        if (method === 'POST' && path.endsWith('/pods')) {
          isHeld = true
          await held
        }
        return cluster.call(method, path, options)
      }
      const late = open({}, { ...cluster, call }).start(spec())
      late.catch(() => undefined)
      await expect.poll(() => isHeld, { timeout: 60_000 }).toBe(true)
      await open().remove('o-1')
      letGo()
      await expect(late).rejects.toThrow(/was removed/)
      expect(await pods()).toEqual([])
      expect(await leftovers()).toEqual([])
    })
  },
)
