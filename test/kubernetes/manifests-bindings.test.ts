/** Objects of bindings in an observation, on a real API server. */
import { beforeAll, describe, expect, it } from 'vitest'
import type { Cluster } from '../../src/kubernetes/cluster.ts'
import type { JsonObject } from '../../src/protocol/json.ts'
import type { TestBroker } from '../../src/testing/test-broker.ts'
import { whyNoApiServer } from '../external/kubernetes.ts'
import { mortal } from './control-plane.ts'
import { asynchronous, type ManifestWorld, useManifestWorlds } from './manifests-world.ts'

const reason = whyNoApiServer()

const spec = `
version: 1.0
name: bound
description: A config map, and a Secret for each binding
bindable: true
plans:
  - name: small
    description: small
    free: true
    parameters: [{ name: host, type: string, default: one, updatable: true }]
manifests:
  generate: { password: 24 }
  observe_every: 30s
  provision:
    - name: settings
      object: { apiVersion: v1, kind: ConfigMap, metadata: { name: "s-\${dns(instance.id)}" }, data: { host: "\${parameters.host}" } }
  bind:
    - name: login
      object:
        apiVersion: v1
        kind: Secret
        metadata: { name: "login-\${dns(binding.id)}" }
        stringData: { password: "\${generated.password}", host: "\${parameters.host}" }
    - name: entry
      patch: { apiVersion: v1, kind: ConfigMap, metadata: { name: list }, data: { "\${binding.id}": here } }
  credentials: { password: "\${decode(objects.login.data.password)}", host: "\${parameters.host}" }
`
const login = '/api/v1/namespaces/$ns/secrets/login-b'
const list = '/api/v1/namespaces/$ns/configmaps/list'

describe.skipIf(reason !== undefined)(
  `objects of bindings${reason === undefined ? '' : ` (skipped: ${reason})`}`,
  () => {
    const { open, cluster: current } = useManifestWorlds(spec)
    let cluster: Cluster
    beforeAll(() => {
      cluster = current()
    })
    const makeList = (world: ManifestWorld) =>
      cluster.call('POST', list.replace('$ns', world.namespace).replace('/list', ''), {
        body: { metadata: { name: 'list' } },
      })
    const bind = async (world: ManifestWorld, { client }: TestBroker, id = 'b') =>
      world.ended(await client.bind('i', id, world.ids(), asynchronous))
    const unbind = async (world: ManifestWorld, { client }: TestBroker, id = 'b') =>
      world.ended(await client.unbind('i', id, world.ids(), asynchronous))
    const bound = async (world: ManifestWorld) => {
      await makeList(world)
      const broker = await world.start()
      expect(await world.provision(broker, 'i')).toMatchObject({ state: 'succeeded' })
      expect(await bind(world, broker)).toMatchObject({ state: 'succeeded' })
      return broker
    }
    const dataOf = async (world: ManifestWorld, path = login) => (await world.get(path))?.data as JsonObject | undefined
    const change = (world: ManifestWorld, data: JsonObject) =>
      cluster.call('PATCH', login.replace('$ns', world.namespace), {
        query: { fieldManager: 'kubectl-edit' },
        body: { data },
        contentType: 'application/merge-patch+json',
      })
    const leftOf = async (world: ManifestWorld) =>
      [await world.get(login), (await dataOf(world, list))?.b].filter(Boolean)

    it('are put back as their bind has made them, whatever their instance has become', async () => {
      const world = await open()
      const broker = await bound(world)
      const made = await dataOf(world)
      const parameters = { host: 'two' }
      const { client } = broker
      await world.ended(await client.update('i', { ...world.ids(), parameters }, asynchronous))
      // Nobody has changed it, and its credentials say what it says.
      const seen = await world.observed('i')
      expect([seen.status, seen.reason, await dataOf(world)]).toEqual([true, undefined, made])
      await change(world, { host: 'eA==' })
      expect(await world.observed('i')).toMatchObject({
        status: true,
        reason: 'Repaired',
        message: 'Secret login-b of the binding b was changed by kubectl-edit, and put back',
      })
      expect(await dataOf(world)).toEqual(made)
      await cluster.remove(login.replace('$ns', world.namespace))
      expect(await world.observed('i')).toMatchObject({
        message: 'Secret login-b of the binding b was deleted, and put back',
      })
      expect(await dataOf(world)).toEqual(made)
      const { credentials } = (await client.fetchBinding('i', 'b', world.ids())).body as { credentials: JsonObject }
      expect(credentials).toMatchObject({ host: 'one' })
      expect(made?.password).toBe(Buffer.from(String(credentials.password)).toString('base64'))
      await unbind(world, broker)
      expect(await leftOf(world)).toEqual([])
      const after = await world.observed('i')
      expect([after.status, after.reason]).toEqual([true, undefined])
    })

    it('are seen by the watch, on each of two replicas, and put back once', async () => {
      const world = await open({ spec: spec.replace('30s', '1d'), watch: true })
      const broker = await bound(world)
      await world.start()
      const made = await dataOf(world)
      // ConfigMap and Secret are made, and ConfigMap is patched.
      await expect.poll(() => world.calls.watches, { timeout: 60_000 }).toBeGreaterThanOrEqual(6)
      const begun = world.clock.now()
      await cluster.remove(login.replace('$ns', world.namespace))
      const told = await world.until(async () => {
        const [ready] = (await world.store.instance('i'))?.conditions ?? []
        return ready?.reason === 'Repaired' && ready
      })
      expect(told).toMatchObject({ message: 'Secret login-b of the binding b was deleted, and put back' })
      expect(await dataOf(world)).toEqual(made)
      const { repairs = {} } = (await world.store.instance('i'))?.state ?? {}
      expect(Object.values(repairs as Record<string, readonly number[]>).map(({ length }) => length)).toEqual([1])
      expect(world.clock.now() - begun).toBeLessThan(12 * 3_600_000)
      await unbind(world, broker)
      expect(await leftOf(world)).toEqual([])
    })

    it('are not fought about, and what a binding misses is told', async () => {
      const world = await open()
      const broker = await bound(world)
      for (let round = 0; round < 3; round += 1) {
        await change(world, { host: Buffer.from(`changed ${round}`).toString('base64') })
        expect(await world.observed('i')).toMatchObject({ status: true, reason: 'Repaired' })
      }
      await change(world, { host: 'eA==' })
      expect(await world.observed('i')).toMatchObject({
        status: false,
        reason: 'Contested',
        message: expect.stringMatching(/^Secret login-b of the binding b was changed by .* left alone/),
      })
      expect((await dataOf(world))?.host).toBe('eA==')
      await cluster.remove(list.replace('$ns', world.namespace))
      await world.clock.advance(3_600_000)
      expect(await world.observed('i', ready => !ready)).toMatchObject({
        message: expect.stringContaining('ConfigMap list of the binding b is not there'),
      })
      await makeList(world)
      expect(await world.observed('i', ready => ready)).toMatchObject({ status: true })
      expect(await dataOf(world, list)).toEqual({ b: 'here' })
      await unbind(world, broker)
      expect(await leftOf(world)).toEqual([])
    })

    it('an unbind at any call of an observation leaves nothing', async () => {
      for (let callAt = 1; ; callAt += 1) {
        const world = await open()
        await (await bound(world)).stop()
        await cluster.remove(login.replace('$ns', world.namespace))
        let calls = 0
        let release = () => {}
        const released = new Promise<void>(resolve => {
          release = resolve
        })
        /** Counts, and stops at one call until it may land. */
        const stopping =
          <Args extends unknown[], Result>(work: (...args: Args) => Promise<Result>) =>
          async (...args: Args): Promise<Result> => {
            calls += 1
            if (calls === callAt) await released
            return work(...args)
          }
        const by = {
          ...cluster,
          call: stopping(cluster.call),
          find: stopping(cluster.find),
          remove: stopping(cluster.remove),
        } as Cluster
        const broker = await world.start({ by })
        // Until the observation stands at that call, or was over before.
        const begun = (await world.store.instance('i'))?.conditions[0]?.observedAt ?? 0
        let isOver = false
        for (let round = 0; round < 2_000 && calls < callAt && !isOver; round += 1) {
          await world.clock.advance(calls === 0 ? 1_000 : 0)
          await new Promise(resolve => setTimeout(resolve, 1))
          isOver = ((await world.store.instance('i'))?.conditions[0]?.observedAt ?? 0) > begun
        }
        const { body } = await broker.client.unbind('i', 'b', world.ids(), asynchronous)
        release()
        expect(await world.ended({ body } as never), `unbind at call ${callAt}`).toMatchObject({ state: 'succeeded' })
        expect(await leftOf(world), `unbind at call ${callAt}`).toEqual([])
        await world.clock.advance(10 * 60_000)
        expect(await leftOf(world), `later than an unbind at call ${callAt}`).toEqual([])
        if (isOver) return expect(callAt).toBeGreaterThan(6)
      }
    })

    it.each(['before', 'after'] as const)(
      'an observer that dies at any call brings nothing back (%s the call)',
      async moment => {
        for (let deathAt = 1; ; deathAt += 1) {
          const world = await open()
          await (await bound(world)).stop()
          await cluster.remove(login.replace('$ns', world.namespace))
          const dying = mortal(cluster, deathAt, moment)
          const doomed = await world.start({ by: dying.cluster })
          const begun = (await world.store.instance('i'))?.conditions[0]?.observedAt ?? 0
          await world.until(async () => {
            const isOver = ((await world.store.instance('i'))?.conditions[0]?.observedAt ?? 0) > begun
            return isOver || dying.calls() >= deathAt
          })
          await doomed.stop()
          const heir = await world.start()
          expect(await unbind(world, heir), `death at call ${deathAt}`).toMatchObject({ state: 'succeeded' })
          await world.clock.advance(10 * 60_000)
          expect(await leftOf(world), `death at call ${deathAt}`).toEqual([])
          if (dying.calls() < deathAt) return expect(deathAt).toBeGreaterThan(6)
        }
      },
    )
  },
)
