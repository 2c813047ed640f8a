/** The rights in deploy/kubernetes: a broker's whole life with exactly these, and each of them is used. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parseAllDocuments } from 'yaml'
import type { Cluster } from '../../src/kubernetes/cluster.ts'
import type { KubernetesObject } from '../../src/kubernetes/objects.ts'
import { createKubernetesRuntime } from '../../src/sandbox/kubernetes/kubernetes-runtime.ts'
import type { SandboxSpec } from '../../src/sandbox.ts'
import { never } from '../../src/testing/sandbox-contract/subject.ts'
import { connectNode, whyNoNode } from '../external/kubernetes.ts'
import { makeNodeImage, makeScriptImage } from '../external/kubernetes-image.ts'
import { clockAhead } from '../sandbox/clocks.ts'
import { connectAs } from './accounts.ts'
import { testSettings, toolsImage } from './subject.ts'

const reason = whyNoNode()
const manifests = readFileSync(join(import.meta.dirname, '../../deploy/kubernetes/purser.yaml'), 'utf8')
const home = 'purser'
const target = 'purser-target'

interface Rule {
  readonly apiGroups: readonly string[]
  readonly resources: readonly string[]
  readonly verbs: readonly string[]
}

type Role = KubernetesObject & { readonly kind: string; readonly rules?: readonly Rule[] }

const objects: readonly Role[] = parseAllDocuments(manifests).map(document => document.toJS())
const rbac = '/apis/rbac.authorization.k8s.io/v1'

function placeOf({ kind, metadata: { namespace } }: Role): string {
  const plural = `${kind.toLowerCase()}s`
  if (kind === 'Namespace') return '/api/v1/namespaces'
  if (kind === 'ServiceAccount') return `/api/v1/namespaces/${namespace}/${plural}`
  return namespace === undefined ? `${rbac}/${plural}` : `${rbac}/namespaces/${namespace}/${plural}`
}

/** As `home get configmaps`, or `cluster get pods`. */
function granted(): readonly string[] {
  return objects.flatMap(({ kind, metadata, rules = [] }) =>
    metadata.name?.endsWith('-bundles')
      ? []
      : rules.flatMap(({ resources, verbs }) =>
          resources.flatMap(resource =>
            verbs.map(verb => `${kind === 'Role' ? 'home' : 'cluster'} ${verb} ${resource}`),
          ),
        ),
  )
}

const verbs = { POST: 'create', PUT: 'update', PATCH: 'patch', DELETE: 'delete' } as const

/** The right that a request needs. */
function rightOf(
  method: keyof typeof verbs | 'GET',
  path: string,
  query: Readonly<Record<string, unknown>> = {},
): string {
  const parts = path.split('/').slice(path.startsWith('/api/') ? 3 : 4)
  const inNamespace = parts[0] === 'namespaces' && parts.length > 2
  const [resource, name, below] = inNamespace ? parts.slice(2) : parts
  const reading = query.watch === true ? 'watch' : name === undefined ? 'list' : 'get'
  const isHome = inNamespace && parts[1] === home
  const verb = method === 'GET' ? reading : verbs[method]
  return `${isHome ? 'home' : 'cluster'} ${verb} ${below === undefined ? resource : `${resource}/${below}`}`
}

/** A cluster that notes the rights which are used. */
function noting(cluster: Cluster, used: Set<string>, clock = cluster.clock): Cluster {
  const note = (...request: Parameters<typeof rightOf>) => void used.add(rightOf(...request))
  return {
    ...cluster,
    clock,
    call(method, path, options) {
      note(method, path, options?.query)
      return cluster.call(method, path, options)
    },
    find(path, options) {
      note('GET', path)
      return cluster.find(path, options)
    },
    update(path, change) {
      note('GET', path)
      note('PUT', path)
      return cluster.update(path, change)
    },
    remove(path, options) {
      note('DELETE', path)
      return cluster.remove(path, options)
    },
    stream(path, options) {
      note('GET', path, options.query)
      return cluster.stream(path, options)
    },
  }
}

describe.skipIf(reason !== undefined)(`the manifests${reason === undefined ? '' : ` (skipped: ${reason})`}`, () => {
  let cluster: Cluster
  let image: string
  const made: string[] = []
  const create = async (path: string, body: KubernetesObject) => {
    await cluster.call('POST', path, { body })
    made.push(`${path}/${body.metadata.name}`)
  }
  const user = { username: 'admin', groups: ['system:masters'] }
  const specOf = (name: string): SandboxSpec => ({
    name,
    labels: {},
    program: { kind: 'image', image, pull: 'never' },
    inputs: { action: 'provision', input: {}, extraVars: {}, state: { key: 'value' }, helpers: {}, env: {} },
    limits: { time: 60_000, output: 1_000_000 },
    network: 'allowed',
    origin: { bundle: 'dh-x', namespace: target, user },
  })
  const runtimeOf = (by: Cluster) =>
    createKubernetesRuntime(by, { ...testSettings, namespace: home, autoEscalate: false })

  beforeAll(async () => {
    await makeNodeImage(toolsImage, { entrypoint: ['/bin/sh'] })
    image = await makeScriptImage('sleep 2')
    cluster = await connectNode()
    const wanted = ['Namespace', 'ServiceAccount', 'Role', 'RoleBinding', 'ClusterRole', 'ClusterRoleBinding']
    for (const object of objects.filter(({ kind }) => wanted.includes(kind))) await create(placeOf(object), object)
    await create('/api/v1/namespaces', { metadata: { name: target } })
    await create(`/apis/networking.k8s.io/v1/namespaces/${target}/networkpolicies`, {
      metadata: { name: 'closed' },
      spec: { podSelector: {}, policyTypes: ['Ingress'] },
    } as KubernetesObject)
  })
  afterAll(async () => {
    for (const path of made.reverse()) await cluster.remove(path)
  })

  it('give the broker what it needs, and nothing that it does not use', async () => {
    const broker = await connectAs(cluster, home, 'purser')
    const used = new Set<string>()
    const runtime = runtimeOf(noting(broker, used))
    await runtime.start(specOf('o-1'))
    expect(await runtime.wait('o-1', never())).toEqual({ kind: 'exited', code: 0 })
    expect((await runtime.collect('o-1', [])).outputs).toMatchObject({ problems: [] })
    // One that was killed before it had made the pod.
    const call: Cluster['call'] = (method, path, options) =>
      path.endsWith('/pods') ? Promise.reject(new Error('killed')) : broker.call(method, path, options)
    await expect(runtimeOf({ ...broker, call }).start(specOf('o-2'))).rejects.toThrow('killed')
    expect(await runtime.status('o-2')).toEqual({ kind: 'absent' })
    // One whose image is not there.
    await runtime.start({ ...specOf('o-5'), program: { kind: 'image', image: 'localhost/none:1', pull: 'never' } })
    expect(await runtime.wait('o-5', never())).toMatchObject({ kind: 'refused' })
    expect(await runtime.list()).toHaveLength(3)
    for (const name of ['o-1', 'o-2', 'o-5']) await runtime.remove(name)
    await runtimeOf(noting(broker, used, clockAhead(2 * 3_600_000))).list()
    // The library that runs commands makes its own requests, and the cluster asks for the last one by itself: see below.
    const unseen = ['cluster get pods/exec', 'cluster create pods/exec', 'cluster bind clusterroles']
    expect(granted().filter(right => !used.has(right) && !unseen.includes(right))).toEqual([])
    expect([...used].filter(right => !granted().includes(right))).toEqual([])
  })

  it('let it run commands in pods and give bundles a role: without one of these rights it cannot', async () => {
    const broker = runtimeOf(await connectAs(cluster, home, 'purser'))
    await broker.start(specOf('o-3'))
    expect(await broker.wait('o-3', never())).toEqual({ kind: 'exited', code: 0 })
    const role = objects.find(({ kind, metadata }) => kind === 'ClusterRole' && metadata.name === 'purser-purser')
    const own = objects.find(({ kind }) => kind === 'Role')
    for (const [resource, verb] of [
      ['pods/exec', 'get'],
      ['pods/exec', 'create'],
      ['clusterroles', 'bind'],
    ] as const) {
      const name = `less-${verb}`
      const rules = role?.rules?.map(rule =>
        rule.resources.includes(resource) ? { ...rule, verbs: rule.verbs.filter(each => each !== verb) } : rule,
      )
      const bound = rules?.filter(rule => rule.verbs.length > 0)
      await create(`/api/v1/namespaces/${home}/serviceaccounts`, { metadata: { name } })
      await create(`${rbac}/clusterroles`, { metadata: { name }, rules: bound } as KubernetesObject)
      const subjects = [{ kind: 'ServiceAccount', name, namespace: home }]
      const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name }
      await create(`${rbac}/clusterrolebindings`, { metadata: { name }, roleRef, subjects } as KubernetesObject)
      await create(`${rbac}/namespaces/${home}/rolebindings`, {
        metadata: { name },
        roleRef: { ...roleRef, kind: 'Role', name: own?.metadata.name },
        subjects,
      } as KubernetesObject)
      const less = runtimeOf(await connectAs(cluster, home, name))
      // It takes a while until the server knows it.
      await expect.poll(() => less.status('o-3'), { timeout: 30_000 }).toMatchObject({ kind: 'exited' })
      if (verb === 'bind')
        await expect(less.start(specOf('o-4'))).rejects.toMatchObject({ name: 'SandboxRefusedError' })
      else await expect(less.collect('o-3', [])).rejects.toMatchObject({ name: 'RuntimeUnavailableError' })
    }
    await broker.remove('o-3')
  })
})
