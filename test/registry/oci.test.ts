import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parseBundleSpec } from '../../src/bundle/spec.ts'
import { type RegistryServer, startRegistry, whyNoRegistry } from './docker-registry.ts'
import { startFront } from './front.ts'
import { labelsOf, type Pushed, pushImage, putManifest, specText } from './push.ts'
import { ask, registryFor } from './settings-for.ts'

const reason = whyNoRegistry()

describe.skipIf(reason !== undefined)(`an OCI registry${reason === undefined ? '' : ` (${reason})`}`, () => {
  let server: RegistryServer
  let base = ''
  let host = ''
  const pushed = new Map<string, Pushed>()
  const label = labelsOf(specText('pg'))
  const push = async (name: string, ...rest: [typeof label, Parameters<typeof pushImage>[3]?]) => {
    pushed.set(name, await pushImage(base, name, ...rest))
  }
  const list = (white: string, more: Readonly<Record<string, unknown>> = {}) =>
    ask({ type: 'apiv2', url: base, white_list: [white], ...more })

  beforeAll(async () => {
    server = await startRegistry()
    host = `127.0.0.1:${server.port}`
    base = `http://${host}`
    await push('kinds/oci', label)
    await push('kinds/docker', labelsOf(specText('docker'), { 'com.redhat.apb.runtime': '2' }), { docker: true })
    await push(
      'kinds/newer',
      labelsOf(specText('n'), { 'com.redhat.apb.runtime': '1', 'com.redhat.bundle.runtime': '2' }),
    )
    await push('kinds/no-bundle', { maintainer: 'somebody' })
    await push('tags/a', label, { tag: 'v1' })
    await push('tags/b', label, { tag: 'v2' })
  }, 60_000)
  afterAll(() => server?.stop())

  it('lists its bundles by their labels, and what is not a bundle is not a problem', async () => {
    const answer = await list('^kinds/')
    expect(answer).toEqual({
      kind: 'complete',
      found: [
        { name: 'kinds/docker', source: specText('docker'), runtime: 2 },
        { name: 'kinds/newer', source: specText('n'), runtime: 2 },
        { name: 'kinds/oci', source: specText('pg'), runtime: 1 },
      ].map(found => ({
        ...found,
        image: `${host}/${found.name}@${pushed.get(found.name)?.manifest}`,
        tag: 'latest',
        digest: pushed.get(found.name)?.manifest,
      })),
      problems: [],
    })
    expect(answer.kind !== 'failed' && parseBundleSpec(answer.found[0]?.source, 'x').problems).toEqual([])
  })

  it('says where an image has nothing to run', async () => {
    await push('bare/bundle', label, { entrypoint: null })
    expect(await list('^bare/')).toMatchObject({ found: [{ withoutProgram: expect.stringContaining('ENTRYPOINT') }] })
  })

  it('reads the tags that are asked for', async () => {
    expect(await list('^tags/', { tag: 'v1' })).toMatchObject({
      kind: 'complete',
      found: [{ name: 'tags/a', tag: 'v1' }],
    })
    const named = await list('^tags/', { tag: { default: 'v1', named: { 'tags/b': 'v2' } } })
    expect(named).toMatchObject({
      found: [
        { name: 'tags/a', tag: 'v1' },
        { name: 'tags/b', tag: 'v2', image: `${host}/tags/b@${pushed.get('tags/b')?.manifest}` },
      ],
    })
  })

  it('reads several tags of one image', async () => {
    await push('several/db', labelsOf(specText('db', '1.0.0')), { tag: 'v1.0' })
    const old = pushed.get('several/db')?.manifest
    await push('several/db', labelsOf(specText('db', '2.0.0')), { tag: 'v2.0' })
    const named = { 'several/db': ['v1.0', 'v2.0', 'v3.0'], 'several/none': ['v1'] }
    const answer = await list('^several/', { tag: { default: 'v2.0', named } })
    expect(answer).toMatchObject({
      kind: 'complete',
      found: [
        { name: 'several/db:v1.0', tag: 'v1.0', variant: 'v1.0', image: `${host}/several/db@${old}` },
        { name: 'several/db', tag: 'v2.0', image: `${host}/several/db@${pushed.get('several/db')?.manifest}` },
      ],
      problems: [
        'several/db: it has no tag v3.0; push it, or take it out of tag',
        'several/none: it has no tag v1; push it, or take it out of tag',
      ],
    })
    expect(answer.kind !== 'failed' && answer.found.map(({ variant }) => variant)).toEqual(['v1.0', undefined])
  })

  it('knows which images it has by their digests, and asks for nothing more', async () => {
    const methods: unknown[] = []
    const front = await startFront(server.port, ({ method }) => methods.push(method) === 0)
    try {
      const registry = registryFor({ type: 'oci', url: front.url })
      const own = new URL(front.url).host
      const there = `${own}/kinds/oci@${pushed.get('kinds/oci')?.manifest}`
      const gone = [`${own}/kinds/oci@sha256:${'0'.repeat(64)}`, `${own}/no/such@sha256:${'1'.repeat(64)}`]
      const signal = new AbortController().signal
      const images = [there, ...gone, `elsewhere.example/x@sha256:${'2'.repeat(64)}`]
      const found = await registry.findImages?.(images, signal)
      expect({ there: found?.there, gone: found?.gone.toSorted() }).toEqual({ there: [there], gone: gone.toSorted() })
      expect(methods.toSorted()).toEqual(['GET', 'GET', 'HEAD', 'HEAD', 'HEAD'])
    } finally {
      await front.stop()
    }
    const silent = registryFor({ type: 'oci', url: 'http://127.0.0.1:1' })
    const image = `127.0.0.1:1/x@sha256:${'0'.repeat(64)}`
    expect(await silent.findImages?.([image], new AbortController().signal)).toEqual({ there: [], gone: [] })
  })

  it('takes a 404 that is not its own for no answer', async () => {
    const front = await startFront(server.port, (incoming, outgoing) => {
      outgoing.writeHead(404).end('<html>')
      return incoming !== undefined
    })
    try {
      const image = `${new URL(front.url).host}/x@sha256:${'0'.repeat(64)}`
      const found = await registryFor({ type: 'oci', url: front.url }).findImages?.(
        [image],
        new AbortController().signal,
      )
      expect(found).toEqual({ there: [], gone: [] })
    } finally {
      await front.stop()
    }
  })

  it('reads images that are named beside those that it lists', async () => {
    const answer = await list('^kinds/oci$|^elsewhere/', { images: ['kinds/oci', 'elsewhere/gone'] })
    expect(answer).toMatchObject({ kind: 'complete', found: [{ name: 'kinds/oci' }] })
    expect(answer).toMatchObject({ problems: [expect.stringContaining('elsewhere/gone: it has no tag latest')] })
  })

  it('does not list where only named images are asked for', async () => {
    const answer = await ask({ type: 'registry_proxy', url: base, images: ['kinds/oci'] })
    expect(answer).toMatchObject({ kind: 'complete', found: [{ name: 'kinds/oci' }] })
  })

  it.each([
    ['an OCI index', 'application/vnd.oci.image.index.v1+json', 'oci'],
    ['a Docker manifest list', 'application/vnd.docker.distribution.manifest.list.v2+json', 'docker'],
  ])('takes linux/amd64 of %s, and the digest of the whole', async (_, mediaType, kind) => {
    const name = `index/${kind}`
    const docker = kind === 'docker'
    const arm = await pushImage(base, name, labelsOf(specText('arm')), { tag: 'arm', docker })
    const amd = await pushImage(base, name, labelsOf(specText('amd')), { tag: 'amd', docker })
    const type = `application/vnd.${docker ? 'docker.distribution.manifest.v2' : 'oci.image.manifest.v1'}+json`
    const entry = (digest: string, os: string, architecture: string) => {
      return { mediaType: type, digest, size: 1, platform: { os, architecture } }
    }
    const put = (tag: string, manifests: readonly object[]) =>
      putManifest(base, name, tag, JSON.stringify({ schemaVersion: 2, mediaType, manifests }), mediaType)
    const digest = await put('latest', [entry(arm.manifest, 'linux', 'arm64'), entry(amd.manifest, 'linux', 'amd64')])
    await put('only-arm', [entry(amd.manifest, 'unknown', 'unknown'), entry(arm.manifest, 'linux', 'arm64')])
    expect(await list(`^${name}$`)).toMatchObject({
      kind: 'complete',
      found: [{ image: `${host}/${name}@${digest}`, digest, source: specText('amd') }],
    })
    expect(await list(`^${name}$`, { tag: 'only-arm' })).toMatchObject({ found: [{ source: specText('arm') }] })
  })

  it('is partial where one image is broken, and names it', async () => {
    await push('broken/good', label)
    await push('broken/bad', labelsOf(specText('bad')))
    const digest = pushed.get('broken/bad')?.config.slice('sha256:'.length) ?? ''
    const blobs = join(server.folder, 'data/docker/registry/v2/blobs/sha256')
    writeFileSync(join(blobs, digest.slice(0, 2), digest, 'data'), JSON.stringify({ config: { Labels: label } }))
    const answer = await list('^broken/')
    expect(answer).toMatchObject({ kind: 'partial', found: [{ name: 'broken/good' }] })
    expect(answer).toMatchObject({ problems: [expect.stringMatching(/^broken\/bad: /)] })
  })

  it.each([
    ['a spec that is not base64', { 'com.redhat.apb.spec': '%%%' }, 'not base64'],
    ['a spec that is no UTF-8', { 'com.redhat.apb.spec': '/////w==' }, 'not UTF-8'],
    ['an unknown runtime', labelsOf(specText('x'), { 'com.redhat.apb.runtime': '3' }), 'is not 2'],
    ['an outdated runtime', labelsOf(specText('x'), { 'com.redhat.apb.runtime': '1' }), '/var/tmp/bind-creds'],
  ])('has one that cannot be read where a label has %s', async (what, labels, message) => {
    const name = `label/${what.replaceAll(' ', '-').toLowerCase()}`
    await push(name, labels)
    expect(await list(`^${name}$`)).toMatchObject({
      kind: 'complete',
      found: [{ name, source: '', unreadable: expect.stringContaining(message) }],
    })
  })

  it('has one that keeps its credentials, where what runs bundles fetches them', async () => {
    const name = 'label/kept'
    await push(name, labelsOf(specText('x'), { 'com.redhat.apb.runtime': '1' }))
    const answer = await ask({ type: 'apiv2', url: base, white_list: [`^${name}$`] }, { fetchesCredentials: true })
    expect(answer).toMatchObject({
      kind: 'complete',
      found: [{ name, source: specText('x'), runtime: 1 }],
    })
  })

  it('reads 300 repositories over several pages, a few at once', async () => {
    const names = Array.from({ length: 300 }, (_, index) => `many/r${String(index).padStart(3, '0')}`)
    const [first = '', ...others] = names
    await push(first, label)
    const queue = others.values()
    await Promise.all(
      Array.from({ length: 8 }, async () => {
        for (const name of queue) await push(name, label, { from: first })
      }),
    )
    let [open, most] = [0, 0]
    const front = await startFront(server.port, (_, outgoing) => {
      most = Math.max(most, ++open)
      outgoing.on('close', () => open--)
      return false
    })
    const answer = await ask({ type: 'oci', url: front.url, white_list: ['^many/'] })
    await front.stop()
    expect(answer.kind === 'failed' ? answer : answer.found.map(({ name }) => name)).toEqual(names)
    expect(answer).toMatchObject({ kind: 'complete', problems: [] })
    expect(front.seen.filter(({ path }) => path.startsWith('/v2/_catalog')).length).toBeGreaterThanOrEqual(3)
    expect(most).toBeLessThanOrEqual(8)
  }, 120_000)
})
