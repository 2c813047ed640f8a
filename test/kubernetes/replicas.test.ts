/** `purser serve`, twice, on PostgreSQL and a real cluster, with an image from a registry that wants a password. */
import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { watchObjects } from '../../src/kubernetes/watch.ts'
import type { Pod } from '../../src/sandbox/kubernetes/pod-status.ts'
import { homeLabel } from '../../src/sandbox/kubernetes/records.ts'
import { useBuiltPackage } from '../cli/built-package.ts'
import { connectNode, whyNoNode } from '../external/kubernetes.ts'
import { makeNodeImage, pushNodeImage } from '../external/kubernetes-image.ts'
import { type PostgresServer, startPostgres, whyNoPostgres } from '../external/postgres.ts'
import { syncNow } from '../marketplace/broker.ts'
import { type BrokerProcess, serve, served } from '../marketplace/broker-process.ts'
import { type RegistryServer, startRegistry, whyNoRegistry } from '../registry/docker-registry.ts'
import { labelsOf } from '../registry/push.ts'
import { createHome, destroyHome, leftoversOf, toolsImage } from './subject.ts'

const reason = whyNoNode() ?? whyNoRegistry() ?? (await whyNoPostgres())
const password = 's3cret-pass'
/** Of the password above. */
const htpasswd = 'reader:$2y$05$abcdefghijklmnopqrstuuV7fpPozvyqJfnY19y0802WTlXUm6Rjy\n'
const md5 = (text: string) => createHash('md5').update(text).digest('hex')
const idsOf = (name: string) => ({ service_id: md5(`team-${name}`), plan_id: md5(`team-${name}-small`) })

const specOf = (name: string) => `version: 1.0
name: ${name}
description: runs in a pod
bindable: true
async: optional
plans:
  - { name: small, description: the only one, free: true, parameters: [{ name: wait, type: string }] }
`

const script = `cd "$BUNDLE_OUTPUT"
if [ "$1" = provision ] && grep -q '"wait":"yes"' "$BUNDLE_INPUT"; then echo waiting > progress; sleep 12; fi
case "$1" in
  provision) echo '{"name":"db1"}' > state.json; echo '{"user":"me"}' > credentials.json ;;
  bind) echo "{\\"database\\":\\"$(cat "$BUNDLE_STATE/name")\\"}" > credentials.json ;;
esac`

describe.skipIf(reason !== undefined)(
  `replicas and a cluster${reason === undefined ? '' : ` (skipped: ${reason})`}`,
  () => {
    const built = useBuiltPackage()
    const log: string[] = []
    const brokers: BrokerProcess[] = []
    const pods = new Map<string, Pod>()
    const stopWatch = new AbortController()
    let postgres: PostgresServer
    let registry: RegistryServer
    let folder: string
    let home: string

    async function start(): Promise<BrokerProcess> {
      const broker = await serve({ bin: built.bin, folder, log })
      brokers.push(broker)
      return broker
    }

    beforeAll(async () => {
      await makeNodeImage(toolsImage, { entrypoint: ['/bin/sh'] })
      home = await createHome()
      postgres = await startPostgres()
      registry = await startRegistry({ htpasswd })
      const host = `127.0.0.1:${registry.port}`
      const image = { entrypoint: ['/bin/sh', '-c', script, 'entrypoint'], labels: labelsOf(specOf('pg-apb')) }
      await pushNodeImage(`${host}/apps/pg-apb:latest`, image, `reader:${password}`)
      folder = mkdtempSync(join(tmpdir(), 'purser-cluster-'))
      const config = `${served.replace('sqlite:ledger.db', postgres.url)}
registries:
  - { type: oci, name: team, url: "http://${host}", white_list: [".*"], user: reader, pass: ${password}, auth_type: config }
encryption: { required: false }
bundles:
  runtime: kubernetes
  kubernetes: { kubeconfig: ${process.env.KUBECONFIG}, namespace: ${home}, toolsImage: "${toolsImage}", startTimeout: 30s }
`
      writeFileSync(join(folder, 'purser.yaml'), config, { mode: 0o600 })
      const cluster = await connectNode()
      const note = (pod: Pod) => void pods.set(pod.metadata.uid ?? '', pod)
      const watched = { path: '/api/v1/pods', labels: `${homeLabel}=${home}`, signal: stopWatch.signal }
      void watchObjects<Pod>(cluster, watched, { onList: all => all.forEach(note), onChange: note, onGone: note })
    })
    afterAll(async () => {
      stopWatch.abort()
      await Promise.all(brokers.map(broker => broker.kill()))
      await destroyHome(home)
      await Promise.all([postgres?.stop(), registry?.stop()])
      rmSync(folder, { recursive: true, force: true })
    })

    it('end an operation that was begun by one that is gone, in the pod that it began', async () => {
      const ids = idsOf('pg-apb')
      const first = await start()
      await syncNow(first.admin)
      const provisioned = await first.client.provision(
        'i-1',
        { ...ids, organization_guid: 'o', space_guid: 's', parameters: { wait: 'yes' } },
        { acceptsIncomplete: true },
      )
      expect(provisioned.status).toBe(202)
      const running = () => [...pods.values()].some(({ status }) => status?.phase === 'Running')
      await expect.poll(running, { timeout: 120_000, interval: 100 }).toBe(true)
      const second = await start()
      await first.kill()
      const state = async () =>
        (await second.client.lastOperation('i-1', { operation: provisioned.body.operation ?? '' })).body
      await expect.poll(async () => (await state()).state, { timeout: 120_000 }).not.toBe('in progress')
      expect(await state()).toMatchObject({ state: 'succeeded' })
      expect(pods.size).toBe(1)
      expect(await second.life.bind('i-1', 'b-1', ids)).toMatchObject({ state: 'succeeded' })
      expect(await second.life.credentials('i-1', 'b-1')).toEqual({ database: 'db1' })
      expect(await second.life.unbind('i-1', 'b-1', ids)).toMatchObject({ state: 'succeeded' })
      expect(await second.life.deprovision('i-1', ids)).toMatchObject({ state: 'succeeded' })
      expect(pods.size).toBe(4)
      expect(await leftoversOf(home)).toEqual([])
      expect(log.join('\n')).not.toContain(password)
    })

    it('tell an image that cannot be pulled from others, and leave nothing', async () => {
      const broker = brokers.at(-1) ?? (await start())
      const host = `127.0.0.1:${registry.port}`
      const image = { entrypoint: ['/bin/true'], labels: labelsOf(specOf('gone-apb')) }
      await pushNodeImage(`${host}/apps/gone-apb:latest`, image, `reader:${password}`)
      await syncNow(broker.admin)
      await registry.stop()
      expect(await broker.life.provision('i-2', idsOf('gone-apb'))).toMatchObject({
        state: 'failed',
        description: expect.stringMatching(/^The bundle cannot be run: its image cannot be pulled\./),
      })
      await expect.poll(() => leftoversOf(home), { timeout: 120_000 }).toEqual([])
    })
  },
)
