/** What a platform reads when a cluster refuses or is slow, and what is left then: nothing, and it is not asked without end. */
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer as createListServer, type Server } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sleep, systemClock } from '../../src/clock.ts'
import type { Cluster } from '../../src/kubernetes/cluster.ts'
import { homeLabel } from '../../src/sandbox/kubernetes/records.ts'
import { useBuiltPackage } from '../cli/built-package.ts'
import { connectNode, whyNoNode } from '../external/kubernetes.ts'
import { makeNodeImage, makeScriptImage } from '../external/kubernetes-image.ts'
import { syncNow } from '../marketplace/broker.ts'
import { type BrokerProcess, serve, served } from '../marketplace/broker-process.ts'
import { type ApiCounter, startApiCounter } from './api-counter.ts'
import { createHome, destroyHome, leftoversOf, toolsImage } from './subject.ts'

const reason = whyNoNode()

describe.skipIf(reason !== undefined)(
  `a broker and its cluster${reason === undefined ? '' : ` (skipped: ${reason})`}`,
  () => {
    const built = useBuiltPackage()
    const log: string[] = []
    let cluster: Cluster
    let api: ApiCounter
    let broker: BrokerProcess
    let list: Server
    let home: string
    let folder: string
    let ids: { readonly service_id: string; readonly plan_id: string }

    beforeAll(async () => {
      await makeNodeImage(toolsImage, { entrypoint: ['/bin/sh'] })
      const image = await makeScriptImage(
        'grep -q \'"wish":"fail"\' "$BUNDLE_INPUT" && [ "$1" = provision ] && exit 1; exit 0',
      )
      cluster = await connectNode()
      home = await createHome()
      api = await startApiCounter(cluster)
      folder = mkdtempSync(join(tmpdir(), 'purser-faults-'))
      writeFileSync(join(folder, 'kubeconfig'), api.kubeconfig, { mode: 0o600 })
      list = createListServer((_request, response) => {
        const parameters = [{ name: 'wish', type: 'string' }]
        const plans = [{ name: 'small', description: 'the only one', free: true, parameters }]
        const spec = { version: '1.0', name: 'db', description: 'runs in a pod', bindable: false, async: 'optional' }
        response.setHeader('content-type', 'application/json')
        response.end(JSON.stringify([{ ...spec, image, plans }]))
      }).listen(0, '127.0.0.1')
      await once(list, 'listening')
      writeFileSync(
        join(folder, 'purser.yaml'),
        `${served}registries: [{ type: http, name: list, url: "http://127.0.0.1:${(list.address() as AddressInfo).port}/", white_list: [".*"] }]
bundles:
  runtime: kubernetes
  pull: never
  keepOnError: true
  kubernetes: { kubeconfig: kubeconfig, namespace: ${home}, toolsImage: "${toolsImage}", autoEscalate: true, startTimeout: 30s }
`,
        { mode: 0o600 },
      )
      broker = await serve({ bin: built.bin, folder, log })
      await syncNow(broker.admin)
      const [service] = (await broker.client.catalog()).body.services ?? []
      ids = { service_id: service?.id ?? '', plan_id: service?.plans[0]?.id ?? '' }
    })
    afterAll(async () => {
      await broker?.kill()
      await destroyHome(home)
      await api?.stop()
      list?.close()
      rmSync(folder, { recursive: true, force: true })
    })

    it('keep a sandbox that failed, until the next action of its instance', async () => {
      expect(await broker.life.provision('i-kept', ids, { wish: 'fail' })).toMatchObject({ state: 'failed' })
      const kept = await leftoversOf(home)
      expect(kept.filter(line => line.startsWith('/api/v1/pods'))).toHaveLength(1)
      expect(await broker.life.deprovision('i-kept', ids)).toMatchObject({ state: 'succeeded' })
      await expect.poll(() => leftoversOf(home), { timeout: 60_000 }).toEqual([])
    })

    it('tell a webhook that denies, and leave nothing', async () => {
      const hook = await startWebhook(folder)
      const path = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations'
      const rules = [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] }]
      const body = {
        metadata: { name: home },
        webhooks: [
          {
            name: 'no-pods.example.com',
            admissionReviewVersions: ['v1'],
            sideEffects: 'None',
            failurePolicy: 'Fail',
            namespaceSelector: { matchLabels: { [homeLabel]: home } },
            rules,
            clientConfig: { url: hook.url, caBundle: hook.authority },
          },
        ],
      }
      await cluster.call('POST', path, { body })
      try {
        await untilAsked(hook.asked)
        expect(await broker.life.provision('i-denied', ids)).toMatchObject({
          state: 'failed',
          description: expect.stringMatching(/^The bundle cannot be run: a rule of the cluster forbids its sandbox/),
        })
        await expect.poll(() => leftoversOf(home), { timeout: 60_000 }).toEqual([])
        // What the webhook says may name what nobody outside should know: it is for the log.
        expect(broker.life.answers.join()).not.toContain('the third rule of the house')
        expect(log.join('\n')).toContain('the third rule of the house')
      } finally {
        await cluster.remove(`${path}/${home}`)
        hook.stop()
      }
    })

    /** It takes a while until the server knows of a webhook. */
    async function untilAsked(asked: () => number): Promise<void> {
      const namespace = `${home}-probe`
      const metadata = { name: namespace, labels: { [homeLabel]: home } }
      await cluster.call('POST', '/api/v1/namespaces', { body: { metadata } })
      const probe = { metadata: { name: 'probe' }, spec: { containers: [{ name: 'x', image: 'x' }] } }
      const options = { body: probe, query: { dryRun: 'All' } }
      while (asked() === 0) {
        await cluster.call('POST', `/api/v1/namespaces/${namespace}/pods`, options).catch(() => undefined)
        await sleep(systemClock, 100)
      }
      await cluster.remove(`/api/v1/namespaces/${namespace}`)
    }

    it('wait for a quota that is used up, without asking all the time, and go on', async () => {
      const target = `${home}-target`
      await cluster.call('POST', '/api/v1/namespaces', { body: { metadata: { name: target } } })
      const quotas = `/api/v1/namespaces/${target}/resourcequotas`
      const spec = { hard: { 'count/rolebindings.rbac.authorization.k8s.io': '0' } }
      await cluster.call('POST', quotas, { body: { metadata: { name: 'none' }, spec } })
      const used = async () =>
        (await cluster.call<{ status?: { used?: object } }>('GET', `${quotas}/none`)).status?.used
      await expect.poll(used, { timeout: 60_000 }).toBeDefined()
      const { status, body } = await broker.client.provision(
        'i-quota',
        { ...ids, organization_guid: 'o', space_guid: 's', context: { platform: 'kubernetes', namespace: target } },
        { acceptsIncomplete: true },
      )
      expect(status).toBe(202)
      const refusals = () => log.filter(line => line.includes('quota of the cluster is used up')).length
      await expect.poll(refusals, { timeout: 60_000 }).toBeGreaterThan(0)
      const before = api.requests()
      await sleep(systemClock, 5_000)
      expect(api.requests() - before).toBeLessThan(150)
      const state = async () =>
        (await broker.client.lastOperation('i-quota', { operation: body.operation ?? '' })).body.state
      expect(await state()).toBe('in progress')
      await cluster.remove(`${quotas}/none`)
      await expect.poll(state, { timeout: 180_000 }).toBe('succeeded')
      expect(await broker.life.deprovision('i-quota', ids)).toMatchObject({ state: 'succeeded' })
      await cluster.remove(`/api/v1/namespaces/${target}`)
    })

    it('go on with an API server that is slow, busy, or away now and then', async () => {
      api.trouble(turn => (turn % 11 === 3 ? { status: 429, after: 1 } : turn % 9 === 2 ? 'cut' : { delay: 100 }))
      try {
        expect(await broker.life.provision('i-slow', ids)).toMatchObject({ state: 'succeeded' })
        expect(await broker.life.deprovision('i-slow', ids)).toMatchObject({ state: 'succeeded' })
      } finally {
        api.trouble(undefined)
      }
      await expect.poll(() => leftoversOf(home), { timeout: 60_000 }).toEqual([])
    })
  },
)

/** A webhook that denies everything. */
async function startWebhook(folder: string) {
  const [key, certificate] = ['hook.key', 'hook.crt'].map(name => join(folder, name))
  const subject = ['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1']
  execFileSync(
    'openssl',
    [
      'req',
      '-x509',
      '-newkey',
      'rsa:2048',
      '-nodes',
      '-keyout',
      key ?? '',
      '-out',
      certificate ?? '',
      '-days',
      '1',
      ...subject,
    ],
    { stdio: 'ignore' },
  )
  let asked = 0
  const pem = readFileSync(certificate ?? '')
  const server = createServer({ key: readFileSync(key ?? ''), cert: pem }, async (request, response) => {
    asked += 1
    let text = ''
    for await (const part of request) text += part
    const { uid } = JSON.parse(text).request
    const status = { code: 403, message: 'the third rule of the house' }
    const review = {
      apiVersion: 'admission.k8s.io/v1',
      kind: 'AdmissionReview',
      response: { uid, allowed: false, status },
    }
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(review))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}/deny`,
    authority: pem.toString('base64'),
    asked: () => asked,
    stop: () => void server.close(),
  }
}
