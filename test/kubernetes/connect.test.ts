import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { systemClock } from '../../src/clock.ts'
import { connectCluster } from '../../src/kubernetes/cluster.ts'
import type { ClusterSettings } from '../../src/kubernetes/cluster-settings.ts'

const folder = mkdtempSync(join(tmpdir(), 'purser-kubeconfig-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const connect = (settings: ClusterSettings, env: Readonly<Record<string, string>> = {}) =>
  connectCluster(settings, { clock: systemClock, env: { HOME: folder, ...env } })

function write(name: string, text: string): string {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}

const config = (name: string, namespace: string) => `apiVersion: v1
kind: Config
clusters: [{ name: ${name}, cluster: { server: "https://${name}.example.com" } }]
users: [{ name: ${name}, user: { token: sesame } }]
contexts: [{ name: ${name}, context: { cluster: ${name}, user: ${name}, namespace: ${namespace} } }]
current-context: ${name}
`

describe('connecting to a cluster', () => {
  it('says how to name one where none is named', async () => {
    await expect(connect({})).rejects.toThrow(/No Kubernetes cluster is named\. Set KUBECONFIG/)
  })

  it('takes the first file of KUBECONFIG, and contexts from all of them', async () => {
    const files = [write('one', config('one', 'home')), write('two', config('two', 'away'))].join(':')
    expect((await connect({}, { KUBECONFIG: files })).namespace).toBe('home')
    expect((await connect({ context: 'two' }, { KUBECONFIG: files })).namespace).toBe('away')
    await expect(connect({ context: 'three' }, { KUBECONFIG: files })).rejects.toThrow(
      'The kubeconfig has no context "three". It has: one, two.',
    )
  })

  it('takes the file that the settings name before KUBECONFIG', async () => {
    const kubeconfig = write('named', config('named', 'given'))
    expect((await connect({ kubeconfig }, { KUBECONFIG: '/none' })).namespace).toBe('given')
  })

  it.each([
    ['none', undefined, /cannot be read: ENOENT/],
    ['broken', 'clusters: [{ name: "sesame', /cannot be read/],
    ['empty', 'apiVersion: v1\nkind: Config\nclusters: []\nusers: []\ncontexts: []\n', /names no cluster to use/],
  ])('names a file that cannot be used, and shows nothing of it: %s', async (name, text, problem) => {
    const kubeconfig = text === undefined ? join(folder, name) : write(name, text)
    const failed = connect({ kubeconfig })
    await expect(failed).rejects.toThrow(problem)
    await expect(failed).rejects.not.toThrow(/sesame/)
  })
})
