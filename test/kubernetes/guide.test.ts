import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { KubeConfig } from '@kubernetes/client-node'
import { describe, expect, it } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { systemClock } from '../../src/clock.ts'
import { type Cluster, connectCluster } from '../../src/kubernetes/cluster.ts'
import type { KubernetesObject } from '../../src/kubernetes/objects.ts'
import { createKubernetesRuntime } from '../../src/sandbox/kubernetes/kubernetes-runtime.ts'
import { never } from '../../src/testing/sandbox-contract/subject.ts'
import { connectNode, whyNoNode } from '../external/kubernetes.ts'
import { makeNodeImage, makeScriptImage } from '../external/kubernetes-image.ts'
import { testSettings, toolsImage } from './subject.ts'

const reason = whyNoNode()
const guide = readFileSync(join(import.meta.dirname, '../../docs/guides/kubernetes.md'), 'utf8')

/** The objects in the guide, by kind. */
function objectsOfGuide(): readonly (KubernetesObject & { kind: string })[] {
  return [...guide.matchAll(/```yaml\n([^`]*)```/g)]
    .flatMap(([, text = '']) => parseAllDocuments(text).map(document => document.toJS()))
    .filter(object => object?.kind !== undefined)
}

async function connectAs(cluster: Cluster, namespace: string, account: string): Promise<Cluster> {
  const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${account}/token`
  const made = await cluster.call<{ status: { token: string } }>('POST', path, { body: {} })
  const config = new KubeConfig()
  const current = cluster.config.getCurrentCluster()
  if (current === null) throw new Error('no cluster')
  config.loadFromClusterAndUser(current, { name: account, token: made.status.token })
  const folder = mkdtempSync(join(tmpdir(), 'purser-account-'))
  writeFileSync(join(folder, 'kubeconfig'), config.exportConfig())
  const connected = await connectCluster({ kubeconfig: join(folder, 'kubeconfig') }, { clock: systemClock, env: {} })
  rmSync(folder, { recursive: true })
  return connected
}

describe.skipIf(reason !== undefined)(`the guide${reason === undefined ? '' : ` (skipped: ${reason})`}`, () => {
  it('gives a broker all the rights that it needs', async () => {
    await makeNodeImage(toolsImage, { entrypoint: ['/bin/sh'] })
    const image = await makeScriptImage('echo "{}" > "$BUNDLE_OUTPUT/credentials.json"')
    const cluster = await connectNode()
    const rbac = '/apis/rbac.authorization.k8s.io/v1'
    const named = objectsOfGuide().filter(({ metadata }) => metadata.name === 'purser')
    const made: string[] = []
    const create = async (path: string, body: KubernetesObject) => {
      await cluster.call('POST', path, { body })
      made.push(`${path}/${body.metadata.name}`)
    }
    try {
      await create('/api/v1/namespaces', { metadata: { name: 'purser' } })
      await create('/api/v1/namespaces', { metadata: { name: 'purser-target' } })
      await cluster.call('POST', '/api/v1/namespaces/purser/serviceaccounts', {
        body: { metadata: { name: 'purser' } },
      })
      for (const object of named) await create(`${rbac}/${object.kind.toLowerCase()}s`, object)
      expect(named).toHaveLength(2)
      const broker = await connectAs(cluster, 'purser', 'purser')
      const settings = { ...testSettings, namespace: 'purser', autoEscalate: false }
      const runtime = createKubernetesRuntime(broker, settings)
      const user = { username: 'admin', groups: ['system:masters'] }
      await runtime.start({
        name: 'o-1',
        labels: {},
        program: { kind: 'image', image, pull: 'never' },
        inputs: { action: 'provision', input: {}, extraVars: {}, state: { key: 'value' }, helpers: {}, env: {} },
        limits: { time: 60_000, output: 1_000_000 },
        network: 'allowed',
        origin: { bundle: 'dh-x', namespace: 'purser-target', user },
      })
      expect(await runtime.wait('o-1', never())).toEqual({ kind: 'exited', code: 0 })
      expect((await runtime.collect('o-1', [])).outputs).toMatchObject({ credentials: {}, problems: [] })
      expect(await runtime.list()).toHaveLength(1)
      await runtime.remove('o-1')
      expect(await runtime.list()).toEqual([])
    } finally {
      for (const path of made.reverse()) await cluster.remove(path)
    }
  })
})
