import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Cluster } from '../../src/kubernetes/cluster.ts'
import type { KubernetesObject } from '../../src/kubernetes/objects.ts'
import { type ApiServer, startApiServer, whyNoApiServer } from '../external/kubernetes.ts'
import { openHome } from './control-plane.ts'

const reason = whyNoApiServer()

interface Data extends KubernetesObject {
  readonly data?: Readonly<Record<string, string>>
}

describe.skipIf(reason !== undefined)(
  `copies of what is kept${reason === undefined ? '' : ` (skipped: ${reason})`}`,
  () => {
    let server: ApiServer
    let cluster: Cluster
    beforeAll(async () => {
      server = await startApiServer()
      cluster = await server.connect()
    })
    afterAll(() => server?.stop())

    const credentials = { user: 'me', password: 'sesame' }
    const kept = { id: 'i-1', bundle: 'dh-x', action: 'provision', state: { db: 'one' }, credentials }
    const read = (home: string, plural: string, name: string) =>
      cluster.find<Data>(`/api/v1/namespaces/${home}/${plural}/${name}`)

    it('are made only where they are wanted', async () => {
      const { open } = await openHome(cluster)
      expect(open().showKept).toBeUndefined()
    })

    it('are where the Automation Broker had them, and go with the instance', async () => {
      const { home, open } = await openHome(cluster)
      const runtime = open({ copies: true })
      await runtime.showKept?.(kept)
      await runtime.showKept?.({ ...kept, action: 'update', state: { db: 'two', more: 'yes' } })
      expect(await read(home, 'configmaps', 'i-1-state')).toMatchObject({
        data: { db: 'two', more: 'yes' },
        metadata: { labels: { bundleAction: 'update', bundleName: 'dh-x' } },
      })
      const { data } = (await read(home, 'secrets', 'i-1')) ?? {}
      expect(JSON.parse(Buffer.from(data?.credentials ?? '', 'base64').toString())).toEqual(credentials)
      await runtime.showKept?.({ id: 'i-1', bundle: 'dh-x', action: 'deprovision' })
      expect(await read(home, 'configmaps', 'i-1-state')).toBeUndefined()
      expect(await read(home, 'secrets', 'i-1')).toBeUndefined()
    })

    it('touch nothing that is not a copy, and leave out what cannot be a name', async () => {
      const { home, open } = await openHome(cluster)
      const data = { credentials: Buffer.from("the operator's own").toString('base64') }
      await cluster.call('POST', `/api/v1/namespaces/${home}/secrets`, { body: { metadata: { name: 'i-1' }, data } })
      const runtime = open({ copies: true })
      await runtime.showKept?.(kept)
      await runtime.showKept?.({ id: 'i-1', bundle: 'dh-x', action: 'deprovision' })
      expect((await read(home, 'secrets', 'i-1'))?.data).toEqual(data)
      await runtime.showKept?.({ ...kept, id: '../../secrets/I_2' })
    })
  },
)
