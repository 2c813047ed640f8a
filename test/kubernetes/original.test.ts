import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Runtime, SandboxInputs, SandboxSpec } from '../../src/sandbox.ts'
import { never, until } from '../../src/testing/sandbox-contract/subject.ts'
import { connectNode, whyNoNode } from '../external/kubernetes.ts'
import { makeNodeImage } from '../external/kubernetes-image.ts'
import { startApiFront } from './pod-front.ts'
import { createHome, destroyHome, leftoversOf, openRuntime, toolsImage } from './subject.ts'

const reason = whyNoNode()
const image = 'localhost/purser-test-original:1'
const script = readFileSync(join(import.meta.dirname, 'original-bundle.mjs'), 'utf8')

describe.skipIf(reason !== undefined)(
  `a bundle of the Automation Broker${reason === undefined ? '' : ` (skipped: ${reason})`}`,
  () => {
    let home: string
    let target: string
    let runtime: Runtime
    let front: Awaited<ReturnType<typeof startApiFront>>

    beforeAll(async () => {
      await makeNodeImage(toolsImage, { entrypoint: ['/bin/sh'] })
      await makeNodeImage(image, {
        entrypoint: ['/bin/node', '/original.mjs'],
        files: { './original.mjs': script },
        withNode: true,
      })
      front = await startApiFront()
      home = await createHome()
      target = await createHome()
      runtime = await openRuntime(home)
    })
    afterAll(async () => {
      await destroyHome(home)
      await (await connectNode()).remove(`/api/v1/namespaces/${target}`)
      await front.stop()
    })

    const specOf = (name: string, action: string, vars: object, more: Partial<SandboxInputs> = {}): SandboxSpec => ({
      name,
      labels: {},
      program: { kind: 'image', image, pull: 'never', readsJson: true },
      inputs: {
        action,
        input: {},
        extraVars: { api: front.address, namespace: target, _apb_service_instance_id: name, ...vars },
        state: {},
        secrets: [{ name: 'shared', entries: { key: 'of-the-operator' } }],
        helpers: {},
        env: { POD_NAME: 'not-this', POD_NAMESPACE: 'nor-this' },
        ...more,
      },
      limits: { time: 300_000 },
      network: 'allowed',
      origin: { bundle: 'dh-original-apb', namespace: target },
    })

    it('gives credentials, progress, a dashboard and state by the API', async () => {
      await runtime.start(specOf('prov', 'provision', { password: 'sesame-open', pause: 3_000 }))
      expect(await until(async () => (await runtime.progress('prov', []))?.match(/halfway/)?.input)).toBe(
        'provision: halfway',
      )
      expect(await runtime.wait('prov', never())).toEqual({ kind: 'exited', code: 0 })
      const { outputs } = await runtime.collect('prov', ['sesame-open'])
      expect(outputs).toMatchObject({
        credentials: { user: 'admin', password: 'sesame-open', saw: 'of-the-operator' },
        dashboardUrl: 'https://example.com/dashboard',
        state: { name: 'db1', target },
        problems: [],
      })
      const cluster = await connectNode()
      await cluster.call('GET', `/api/v1/namespaces/${target}/configmaps/made-prov`)
      // What anybody may see who may look at pods.
      const { items } = await cluster.call<{ items: object[] }>('GET', '/api/v1/pods')
      expect(JSON.stringify(items)).not.toContain('sesame-open')
      await runtime.remove('prov')
      expect(await leftoversOf(home)).toEqual([])
    })

    it('finds its state, and only what it changes comes back', async () => {
      await runtime.start(specOf('bind', 'bind', {}, { state: { name: 'db1', old: 'kept' } }))
      expect(await runtime.wait('bind', never())).toEqual({ kind: 'exited', code: 0 })
      const { state = {} } = (await runtime.collect('bind', [])).outputs
      expect(Object.keys(state)).toEqual(['bound'])
      expect(JSON.parse(state.bound ?? '')).toEqual({ name: 'db1', old: 'kept' })
      await runtime.remove('bind')
    })

    it('says with its last words why it failed, and with 8 that there is no such action', async () => {
      await runtime.start(specOf('fail', 'provision', { fail: 'there is no room' }))
      expect(await runtime.wait('fail', never())).toEqual({ kind: 'exited', code: 1 })
      expect((await runtime.collect('fail', [])).outputs.message).toBe('there is no room')
      await runtime.start(specOf('none', 'update', {}))
      expect(await runtime.wait('none', never())).toEqual({ kind: 'exited', code: 8 })
    })
  },
)
