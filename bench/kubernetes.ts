import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { sleep, systemClock } from '../src/clock.ts'
import type { Cluster } from '../src/kubernetes/cluster.ts'
import type { KubernetesObject } from '../src/kubernetes/objects.ts'
import { connectNode, whyNoNode } from '../test/external/kubernetes.ts'
import { makeNodeImage, makeScriptImage } from '../test/external/kubernetes-image.ts'
import { type ApiCounter, startApiCounter } from '../test/kubernetes/api-counter.ts'
import { createHome, destroyHome, toolsImage } from '../test/kubernetes/subject.ts'
import { compare, provision, provisionBody, spec, work } from './bundles.ts'
import { inNewFolder } from './new-folder.ts'
import { atMost, notMeasured, type Result, toResult } from './result.ts'
import { type Served, servePurser } from './served.ts'
import { registryEntry, serveSpecs } from './specs.ts'

/** A whole provision by a pod against a bare Job and a bare pod that do the same, and what many at a time ask of the API server. */
export async function benchKubernetes(rounds: number, atOnce: number): Promise<Result[]> {
  const name = `provision by a pod that does "${work}"`
  const reason = whyNoNode()
  if (reason !== undefined) return [notMeasured(name, reason)]
  await makeNodeImage(toolsImage, { entrypoint: ['/bin/sh'] })
  const image = await makeScriptImage(work)
  const cluster = await connectNode()
  const bare = { 'a bare Job': () => runJob(cluster, image), 'a bare pod': () => runPod(cluster, image) }
  const results: Result[] = []
  for (const [what, run] of Object.entries(bare))
    results.push(await withBroker(image, broker => compare(`${name}, against ${what}`, broker, rounds, run)))
  results.push(await withBroker(image, (broker, api) => benchRequests(broker, api, atOnce)))
  return results
}

/** Requests to the API server for each of many provisions at a time, against one after the other. */
async function benchRequests(broker: Served, api: ApiCounter, atOnce: number): Promise<Result> {
  const body = await provisionBody(broker)
  const perAction = async (ids: readonly string[], run: (ids: readonly string[]) => Promise<unknown>) => {
    const before = api.requests()
    await run(ids)
    return (api.requests() - before) / ids.length
  }
  const idsOf = (prefix: string, count: number) => Array.from({ length: count }, (_, index) => `${prefix}-${index}`)
  await provision(broker, 'warm', body)
  const baseline = await perAction(idsOf('one', 5), async ids => {
    for (const id of ids) await provision(broker, id, body)
  })
  const ours = await perAction(idsOf('many', atOnce), ids => Promise.all(ids.map(id => provision(broker, id, body))))
  await broker.stop()
  const name = `API requests for a provision, ${atOnce} at a time against one at a time`
  return toResult(name, 'requests', [{ ours, baseline }], atMost(1.2))
}

async function withBroker<T>(image: string, use: (broker: Served, api: ApiCounter) => Promise<T>): Promise<T> {
  const home = await createHome()
  const api = await startApiCounter(await connectNode())
  const specs = await serveSpecs(Buffer.from(JSON.stringify([{ ...spec, image }])))
  try {
    return await inNewFolder(async folder => {
      const kubeconfig = join(folder, 'kubeconfig')
      await writeFile(kubeconfig, api.kubeconfig, { mode: 0o600 })
      const broker = await servePurser(folder, {
        registries: [registryEntry(specs.url)],
        bundles: { runtime: 'kubernetes', pull: 'never', kubernetes: { kubeconfig, namespace: home, toolsImage } },
      })
      return use(broker, api)
    })
  } finally {
    await specs.stop()
    await api.stop()
    await destroyHome(home)
  }
}

/** As `kubectl create job`, `kubectl wait` and `kubectl delete` would. */
async function runJob(cluster: Cluster, image: string): Promise<void> {
  const template = {
    spec: { restartPolicy: 'Never', terminationGracePeriodSeconds: 1, containers: [container(image)] },
  }
  const jobs = '/apis/batch/v1/namespaces/default/jobs'
  await runBare(cluster, jobs, { backoffLimit: 0, template }, ({ conditions = [] }) =>
    conditions.some(({ type, status }) => type === 'Complete' && status === 'True'),
  )
}

/** As `kubectl run --rm` would. */
async function runPod(cluster: Cluster, image: string): Promise<void> {
  const spec = { restartPolicy: 'Never', terminationGracePeriodSeconds: 1, containers: [container(image)] }
  await runBare(cluster, '/api/v1/namespaces/default/pods', spec, ({ phase }) => phase === 'Succeeded')
}

const container = (image: string) => ({ name: 'main', image, imagePullPolicy: 'Never' })

interface Status {
  readonly phase?: string
  readonly conditions?: readonly { readonly type: string; readonly status: string }[]
}

/** Made, waited for, deleted with all that belongs to it. */
async function runBare(
  cluster: Cluster,
  path: string,
  spec: object,
  isOver: (status: Status) => boolean,
): Promise<void> {
  const name = `bare-${randomBytes(4).toString('hex')}`
  await cluster.call('POST', path, { body: { metadata: { name }, spec } })
  for (;;) {
    const { status = {} } = await cluster.call<KubernetesObject & { status?: Status }>('GET', `${path}/${name}`)
    if (isOver(status)) break
    await sleep(systemClock, 50)
  }
  await cluster.remove(`${path}/${name}`, { body: { propagationPolicy: 'Foreground' } })
  while ((await cluster.find(`${path}/${name}`)) !== undefined) await sleep(systemClock, 50)
}
