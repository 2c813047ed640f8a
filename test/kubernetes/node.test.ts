import { beforeAll, describe, expect, it } from 'vitest'
import type { KubernetesObject } from '../../src/kubernetes/objects.ts'
import { connectNode, whyNoNode } from '../external/kubernetes.ts'
import { makeNodeImage } from '../external/kubernetes-image.ts'

const reason = whyNoNode()
const image = 'localhost/purser-test-node:1'

describe.skipIf(reason !== undefined)(`a node${reason === undefined ? '' : ` (skipped: ${reason})`}`, () => {
  beforeAll(() => makeNodeImage(image, { entrypoint: ['/bin/echo'] }))

  it('runs an image that it was given', async () => {
    const cluster = await connectNode()
    const pods = '/api/v1/namespaces/default/pods'
    const containers = [{ name: 'main', image, imagePullPolicy: 'Never', args: ['hello'] }]
    const body = { metadata: { generateName: 'purser-test-' }, spec: { restartPolicy: 'Never', containers } }
    const { metadata } = await cluster.call<KubernetesObject>('POST', pods, { body })
    const read = () => cluster.call<{ status: { phase: string } }>('GET', `${pods}/${metadata.name}`)
    await expect.poll(async () => (await read()).status.phase, { timeout: 120_000 }).toBe('Succeeded')
    await cluster.remove(`${pods}/${metadata.name}`)
  })
})
