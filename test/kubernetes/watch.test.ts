import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { KubernetesObject } from '../../src/kubernetes/objects.ts'
import { watchObjects } from '../../src/kubernetes/watch.ts'
import { type ApiServer, startApiServer, whyNoApiServer } from '../external/kubernetes.ts'

const reason = whyNoApiServer()

/** What a watcher knows, by name, with the text in it. */
function createMirror() {
  const known = new Map<string, string>()
  const put = (item: KubernetesObject & { data?: { text: string } }) =>
    void known.set(item.metadata.name ?? '', item.data?.text ?? '')
  let lists = 0
  let troubles = 0
  return {
    known,
    counts: () => ({ lists, troubles }),
    watcher: {
      onList(items: readonly KubernetesObject[]) {
        lists += 1
        known.clear()
        items.forEach(put)
      },
      onChange: put,
      onGone: (item: KubernetesObject) => void known.delete(item.metadata.name ?? ''),
      onTrouble() {
        troubles += 1
      },
    },
  }
}

const maps = '/api/v1/namespaces/default/configmaps'

describe.skipIf(reason !== undefined)(`a watch${reason === undefined ? '' : ` (skipped: ${reason})`}`, () => {
  let server: ApiServer
  beforeAll(async () => {
    server = await startApiServer()
  }, 120_000)
  afterAll(() => server?.stop())

  it('sees what happens, also through a server that is started anew', async () => {
    const cluster = await server.connect()
    const stop = new AbortController()
    const { known, watcher, counts } = createMirror()
    const labels = 'watched=yes'
    const put = (name: string, text: string) => ({
      metadata: { name, labels: { watched: 'yes' } },
      data: { text },
    })
    await cluster.call('POST', maps, { body: put('first', 'one') })
    await cluster.call('POST', maps, { body: { metadata: { name: 'other' } } })
    const done = watchObjects(cluster, { path: maps, labels, signal: stop.signal }, watcher)
    await expect.poll(() => [...known], { timeout: 30_000 }).toEqual([['first', 'one']])
    await cluster.call('POST', maps, { body: put('second', 'two') })
    await cluster.update<KubernetesObject>(`${maps}/first`, found => ({ ...found, data: { text: 'changed' } }))
    await expect
      .poll(() => [...known], { timeout: 30_000 })
      .toEqual([
        ['first', 'changed'],
        ['second', 'two'],
      ])
    await server.kill()
    await expect.poll(() => counts().troubles, { timeout: 30_000 }).toBeGreaterThan(0)
    await server.restart()
    const after = await server.connect()
    await after.remove(`${maps}/first`)
    await after.call('POST', maps, { body: put('third', 'three') })
    await expect.poll(() => [...known.keys()].sort(), { timeout: 60_000 }).toEqual(['second', 'third'])
    stop.abort()
    await done
  })
})
