import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import type { Clock } from '../../src/clock.ts'
import { type Cluster, connectCluster } from '../../src/kubernetes/cluster.ts'
import { type Canned, type CannedServer, startCannedServer } from './canned-server.ts'

let server: CannedServer | undefined
const folder = mkdtempSync(join(tmpdir(), 'purser-canned-'))
afterEach(async () => {
  await server?.close()
  server = undefined
  rmSync(folder, { recursive: true, force: true })
})

/** Pauses take no time; they are noted. */
function createHasty(): { readonly clock: Clock; readonly pauses: number[] } {
  let now = 0
  const pauses: number[] = []
  const clock: Clock = {
    now: () => now,
    after(ms, callback) {
      pauses.push(ms)
      now += ms
      const immediate = setImmediate(callback)
      return () => clearImmediate(immediate)
    },
  }
  return { clock, pauses }
}

async function connectTo(...answers: readonly Canned[]): Promise<{ cluster: Cluster; pauses: readonly number[] }> {
  server = await startCannedServer(answers)
  const kubeconfig = join(mkdtempSync(join(tmpdir(), 'purser-canned-')), 'kubeconfig')
  writeFileSync(kubeconfig, server.kubeconfig)
  const { clock, pauses } = createHasty()
  const cluster = await connectCluster({ kubeconfig }, { clock, env: {}, random: () => 1 })
  rmSync(kubeconfig)
  return { cluster, pauses }
}

const ok: Canned = { status: 200, body: { metadata: { name: 'x', resourceVersion: '1' } } }
const refusal = (status: number, reason: string): Canned => ({
  status,
  body: { kind: 'Status', reason, message: 'no' },
})

describe('calls to a cluster', () => {
  it('wait for as long as Retry-After says', async () => {
    const { cluster, pauses } = await connectTo({ status: 429, headers: { 'retry-after': '7' } }, ok)
    await cluster.call('GET', '/api/v1/nodes')
    expect(pauses).toEqual([7_000])
  })

  it('are repeated after faults and lost connections, ever more seldom', async () => {
    const { cluster, pauses } = await connectTo(
      refusal(500, 'InternalError'),
      (_request, response) => response.destroy(),
      refusal(503, 'ServiceUnavailable'),
      ok,
    )
    await cluster.call('POST', '/api/v1/namespaces', { body: {} })
    expect(pauses).toEqual([500, 1_000, 2_000])
  })

  it('end with an error that says so when the cluster stays away', async () => {
    const { cluster, pauses } = await connectTo(refusal(503, 'ServiceUnavailable'))
    await expect(cluster.call('GET', '/api/v1/nodes')).rejects.toMatchObject({ name: 'ClusterUnavailableError' })
    expect(pauses.length).toBeLessThan(10)
  })

  it('do not wait where Retry-After asks for longer than they are tried', async () => {
    const { cluster, pauses } = await connectTo({ status: 429, headers: { 'retry-after': '3600' } })
    await expect(cluster.call('GET', '/')).rejects.toMatchObject({ name: 'ClusterUnavailableError' })
    expect(pauses).toEqual([])
  })

  it('give back a no at once, with the reason of the cluster', async () => {
    const { cluster } = await connectTo(refusal(403, 'Forbidden'))
    await expect(cluster.call('GET', '/api/v1/nodes')).rejects.toMatchObject({
      name: 'KubernetesError',
      status: 403,
      reason: 'Forbidden',
      message: 'GET /api/v1/nodes: no',
    })
    expect(server?.requests).toHaveLength(1)
  })

  it('read credentials anew after a 401, once', async () => {
    const { cluster } = await connectTo(refusal(401, 'Unauthorized'))
    await expect(cluster.call('GET', '/')).rejects.toMatchObject({ status: 401 })
    expect(server?.requests).toHaveLength(2)
  })

  it('read and write again where somebody else was faster', async () => {
    const { cluster } = await connectTo(ok, refusal(409, 'Conflict'), ok, ok)
    await cluster.update('/api/v1/namespaces/x', found => found)
    expect(server?.requests.map(line => line.split(' ')[0])).toEqual(['GET', 'PUT', 'GET', 'PUT'])
  })

  it('find nothing where there is nothing, and remove it', async () => {
    const { cluster } = await connectTo(refusal(404, 'NotFound'))
    expect(await cluster.find('/api/v1/namespaces/x')).toBeUndefined()
    expect(await cluster.remove('/api/v1/namespaces/x')).toBe(false)
  })
})
