/** The Helm chart: what it becomes, and a broker that is installed with it, in pods of the image of Containerfile. */
import { execFile } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parseAllDocuments, stringify } from 'yaml'
import { findHelm, render } from '../../scripts/helm.mjs'
import { createAdminClient, createOsbClient } from '../../src/client/index.ts'
import { sleep, systemClock } from '../../src/clock.ts'
import type { Cluster } from '../../src/kubernetes/cluster.ts'
import type { KubernetesList, KubernetesObject } from '../../src/kubernetes/objects.ts'
import { connectNode, loadImage, whyNoNode } from '../external/kubernetes.ts'
import { makeNodeImage, makeScriptImage } from '../external/kubernetes-image.ts'
import { type PostgresServer, startPostgres, whyNoPostgres } from '../external/postgres.ts'
import { buildPurserImage, purserImage, whyNoBuild } from '../external/purser-image.ts'
import { syncNow } from '../marketplace/broker.ts'
import { user } from '../marketplace/broker-process.ts'
import { createLife } from '../marketplace/life.ts'
import { type PodFront, startApiFront, startPodFront } from './pod-front.ts'
import { createHome, leftoversOf, toolsImage } from './subject.ts'

const helm = findHelm()
const reason = whyNoNode() ?? whyNoBuild() ?? (await whyNoPostgres()) ?? (helm ? undefined : 'there is no Helm')
const folder = join(import.meta.dirname, '../../deploy')
const chart = join(folder, 'helm', 'purser')
const renderChart = (options: Parameters<typeof render>[2] = {}) => render(helm ?? '', chart, options)
const read = (text: string): readonly (KubernetesObject & { kind: string })[] =>
  parseAllDocuments(text).flatMap(document => document.toJS() ?? [])
const nameOf = ({ kind, metadata }: KubernetesObject & { kind: string }) => `${kind} ${metadata.name}`
const md5 = (text: string) => createHash('md5').update(text).digest('hex')

describe.skipIf(reason !== undefined)(`the chart${reason === undefined ? '' : ` (skipped: ${reason})`}`, () => {
  let cluster: Cluster
  beforeAll(async () => {
    cluster = await connectNode()
  })

  it('has the plain manifests as its defaults', () => {
    const plain = readFileSync(join(folder, 'kubernetes', 'purser.yaml'), 'utf8')
    const [namespace, ...others] = read(plain)
    expect(namespace).toMatchObject({ kind: 'Namespace', metadata: { name: 'purser' } })
    const rendered = renderChart().replaceAll('managed-by: Helm', 'managed-by: kubectl')
    expect(others, 'run "npm run manifests"').toEqual(read(rendered))
  })

  it.each([
    ['a number that is none', ['--set-string', 'replicas=many'], /replicas.*integer/is],
    ['a misspelt key', ['--set', 'replica=3'], /replica/],
    ['Service Catalog without credentials', ['--set', 'serviceCatalog.enabled=true'], /PURSER_USERNAME/],
  ])('refuses %s', (_what, args, problem) => {
    expect(() => renderChart({ args })).toThrow(problem)
  })

  it('registers the broker with Service Catalog only where that is asked for', () => {
    const values = stringify({ secret: { values: { PURSER_USERNAME: 'me', PURSER_PASSWORD: 'no: [one]' } } })
    const names = (args: readonly string[]) => read(renderChart({ args, values })).map(nameOf)
    expect(names([])).not.toContain('ClusterServiceBroker purser-purser')
    const args = ['--set', 'serviceCatalog.enabled=true', '--api-versions', 'servicecatalog.k8s.io/v1beta1']
    expect(names(args)).toContain('ClusterServiceBroker purser-purser')
  })

  it('gives no right where no bundle runs in the cluster, and one for each role', () => {
    const roles = (config: object) =>
      read(renderChart({ values: stringify({ config }) })).filter(({ kind }) => kind.endsWith('Role'))
    expect(roles({ bundles: { runtime: 'process', kubernetes: null } })).toEqual([])
    const kubernetes = { roles: [{ bundle: 'dh-x', role: 'admin' }], pullSecrets: ['registry'], autoEscalate: true }
    const given = JSON.stringify(roles({ bundles: { kubernetes } }))
    expect(given).toContain('"resourceNames":["edit","admin"]')
    expect(given).toContain('"resourceNames":["registry"]')
    expect(given).not.toContain('subjectaccessreviews')
  })

  it('gives the rights in a home where the broker keeps its sandboxes', () => {
    const config = { bundles: { kubernetes: { namespace: 'home' } } }
    const placed = (name: string, values: string) =>
      read(renderChart({ namespace: 'release', values })).find(({ kind }) => kind === name)?.metadata.namespace
    for (const kind of ['Role', 'RoleBinding']) {
      expect(placed(kind, '')).toBe('release')
      expect(placed(kind, stringify({ config }))).toBe('home')
    }
  })

  it('is accepted by the API server, with its defaults and with all that it can have', async () => {
    const namespace = await createHome()
    const all = {
      secret: { values: { PURSER_STORE: 'postgres://…' } },
      imagePullSecrets: [{ name: 'registry' }],
      hostAliases: [{ ip: '10.0.0.1', hostnames: ['db'] }],
      env: [{ name: 'DB_PASSWORD', value: 'x' }],
      nodeSelector: { disk: 'fast' },
      tolerations: [{ key: 'broker', operator: 'Exists' }],
      affinity: { nodeAffinity: {} },
      networkPolicy: { from: [{ namespaceSelector: {} }], egress: [{ ports: [{ port: 5432 }] }] },
      serviceAccount: { annotations: { team: 'platform' } },
    }
    try {
      for (const values of ['', stringify(all)])
        for (const object of read(renderChart({ namespace, values })))
          await cluster.call('POST', await pathOf(object), {
            body: object,
            query: { dryRun: 'All', fieldValidation: 'Strict' },
          })
    } finally {
      await cluster.remove(`/api/v1/namespaces/${namespace}`)
    }
  })

  async function pathOf({ apiVersion = '', kind, metadata }: KubernetesObject & { kind: string }): Promise<string> {
    const base = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`
    const { resources } = await cluster.call<{ resources: { name: string; kind: string; namespaced: boolean }[] }>(
      'GET',
      base,
    )
    const found = resources.find(each => each.kind === kind && !each.name.includes('/'))
    return `${base}/${found?.namespaced ? `namespaces/${metadata.namespace}/` : ''}${found?.name}`
  }

  describe('installed', () => {
    let postgres: PostgresServer
    let fronts: PodFront[] = []
    let registry: Server
    let namespace: string
    let bundle: string
    const asHelm = (...args: string[]) =>
      promisify(execFile)(helm ?? '', [...args, '--namespace', namespace], { maxBuffer: 2 ** 24 })

    beforeAll(async () => {
      await makeNodeImage(toolsImage, { entrypoint: ['/bin/sh'] })
      bundle = await makeScriptImage('sleep 1; echo \'{"user":"me"}\' > "$BUNDLE_OUTPUT/credentials.json"')
      await loadImage((await buildPurserImage()).image)
      postgres = await startPostgres()
      registry = createServer((_request, response) => {
        const plans = [{ name: 'small', description: 'the only one', free: true }]
        const spec = { version: '1.0', name: 'db', description: 'runs in a pod', bindable: true, async: 'optional' }
        response.setHeader('content-type', 'application/json')
        response.end(JSON.stringify([{ ...spec, image: bundle, plans }]))
      }).listen(0, '127.0.0.1')
      await once(registry, 'listening')
      const listed = registry.address()
      const port = listed !== null && typeof listed === 'object' ? listed.port : 0
      fronts = [
        await startApiFront(),
        await startPodFront(postgres.url),
        await startPodFront(`http://127.0.0.1:${port}`),
      ]
      namespace = await createHome()
    })
    afterAll(async () => {
      await asHelm('uninstall', 'purser').catch(() => undefined)
      await cluster.remove(`/api/v1/namespaces/${namespace}`)
      for (const front of fronts) await front.stop()
      registry?.close()
      await postgres?.stop()
    })

    /** Which pods a Service would send a request to now. */
    async function readyPods(): Promise<readonly string[]> {
      const slices = `/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices`
      interface Slice extends KubernetesObject {
        readonly endpoints?: readonly { addresses: string[]; conditions: { ready?: boolean } }[]
      }
      const { items } = await cluster.call<KubernetesList<Slice>>('GET', slices)
      const endpoints = items.flatMap(({ endpoints: all }) => all ?? [])
      return endpoints.flatMap(({ addresses, conditions }) => (conditions.ready ? addresses : []))
    }

    const clientOf = (pod: string) => createOsbClient({ url: `http://${pod}:8080`, ...user })
    const ids = { service_id: md5('list-db'), plan_id: md5('list-db-small') }

    it('serves, runs bundles in pods, and is restarted without a failed request', { timeout: 600_000 }, async () => {
      const [api, database, list] = fronts
      const store = new URL(postgres.url)
      store.host = database?.address ?? ''
      const [repository = '', tag = ''] = purserImage.split(/:(?=[^/]*$)/)
      // There is no proxy for services and no DNS on a test's node: what they would give is named here.
      const values = {
        image: { repository, tag, pullPolicy: 'Never' },
        secret: {
          values: {
            PURSER_STORE: store.href,
            PURSER_ENCRYPTION_KEY: randomBytes(32).toString('base64'),
            PURSER_USERNAME: user.username,
            PURSER_PASSWORD: user.password,
          },
        },
        hostAliases: [{ ip: api?.host, hostnames: ['kubernetes.default.svc'] }],
        env: [
          { name: 'KUBERNETES_SERVICE_HOST', value: 'kubernetes.default.svc' },
          { name: 'KUBERNETES_SERVICE_PORT', value: String(api?.port) },
        ],
        config: {
          bundles: { pull: 'never', kubernetes: { toolsImage, autoEscalate: true } },
          registries: [{ type: 'http', name: 'list', url: `http://${list?.address}/`, white_list: ['.*'] }],
          chores: { sync: '-' },
          engine: { pollInterval: '200ms' },
        },
      }
      const installing = execFile(helm ?? '', [
        ...['install', 'purser', chart, '--namespace', namespace, '--values', '-', '--wait', '--timeout', '5m'],
      ])
      let said = ''
      installing.stderr?.on('data', part => {
        said += part
      })
      installing.stdin?.end(stringify(values))
      const [code] = await once(installing, 'exit')
      expect(code, said).toBe(0)
      await expect.poll(readyPods, { timeout: 120_000 }).toHaveLength(2)

      const [first = '', second = ''] = await readyPods()
      await syncNow(createAdminClient({ url: `http://${first}:8080`, ...user }))
      const seen = async () => (await clientOf(second).catalog()).body.services?.map(({ id }) => id)
      await expect.poll(seen, { timeout: 60_000 }).toEqual([ids.service_id])
      const life = createLife(clientOf(first))
      expect(await life.provision('i-1', ids)).toMatchObject({ state: 'succeeded' })

      // Requests all the time, each to a pod that is ready, while every pod is replaced.
      const before = new Set(await readyPods())
      const answers: string[] = []
      let done = false
      const asking = (async () => {
        for (let turn = 0; !done; turn += 1) {
          const pods = await readyPods()
          const client = clientOf(pods[turn % pods.length] ?? '')
          const asked = turn % 2 === 0 ? client.catalog() : client.fetchInstance('i-1')
          answers.push(await asked.then(({ status }) => String(status), String))
          await sleep(systemClock, 50)
        }
      })()
      const path = `/apis/apps/v1/namespaces/${namespace}/deployments/purser`
      const annotations = { 'kubectl.kubernetes.io/restartedAt': new Date().toISOString() }
      await cluster.call('PATCH', path, {
        body: { spec: { template: { metadata: { annotations } } } },
        contentType: 'application/merge-patch+json',
      })
      const running = clientOf(first).provision(
        'i-2',
        { ...ids, organization_guid: 'o', space_guid: 's' },
        { acceptsIncomplete: true },
      )
      expect((await running).status).toBe(202)
      const replaced = async () => {
        const pods = await readyPods()
        return pods.length === 2 && pods.every(pod => !before.has(pod))
      }
      await expect.poll(replaced, { timeout: 240_000 }).toBe(true)
      done = true
      await asking
      expect(answers.length).toBeGreaterThan(20)
      expect(new Set(answers)).toEqual(new Set(['200']))

      // What one had begun that is gone was ended by the others.
      const [now = ''] = await readyPods()
      const other = clientOf(now)
      const state = async () => (await other.lastOperation('i-2', {})).body.state
      await expect.poll(state, { timeout: 120_000 }).toBe('succeeded')
      for (const id of ['i-1', 'i-2'])
        expect(await createLife(other).deprovision(id, ids)).toMatchObject({ state: 'succeeded' })
      expect(await leftoversOf(namespace)).toEqual([])
    })
  })
})
