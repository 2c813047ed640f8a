import type { ServerResponse } from 'node:http'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { systemClock } from '../../src/clock.ts'
import { type RegistryServer, startRegistry, whyNoRegistry } from './docker-registry.ts'
import { type Front, type Handler, startFront } from './front.ts'
import { labelsOf, pushImage, specText } from './push.ts'
import { ask, registryFor } from './settings-for.ts'

const reason = whyNoRegistry()
const names = Array.from({ length: 20 }, (_, index) => `team/r${String(index).padStart(2, '0')}`)
const isManifest = (path: string | undefined) => path?.includes('/manifests/') === true

function answerWith(status: number, headers: Readonly<Record<string, string>> = {}, body = '{}') {
  return (outgoing: ServerResponse) => {
    outgoing.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body)
    return true
  }
}

describe.skipIf(reason !== undefined)(`a registry in trouble${reason === undefined ? '' : ` (${reason})`}`, () => {
  let server: RegistryServer
  const fronts: Front[] = []
  beforeAll(async () => {
    server = await startRegistry()
    const base = `http://127.0.0.1:${server.port}`
    const labels = labelsOf(specText('pg'))
    for (const name of names) await pushImage(base, name, labels)
  }, 60_000)
  afterAll(() => server?.stop())
  afterEach(async () => {
    for (const front of fronts.splice(0)) await front.stop()
  })

  const inFront = async (handle: Handler) => {
    const front = await startFront(server.port, handle)
    fronts.push(front)
    return front
  }
  const through = async (handle: Handler, more: Readonly<Record<string, unknown>> = {}, limits = {}) => {
    const { url } = await inFront(handle)
    return ask({ type: 'oci', url, ...more }, { limits: { firstPause: 1, ...limits } })
  }

  it('has failed where it is stopped: nothing is gone', async () => {
    const gone = await startRegistry()
    await gone.stop()
    const answer = await ask({ type: 'oci', url: `http://127.0.0.1:${gone.port}`, images: ['team/r00'] })
    expect(answer).toEqual({ kind: 'failed', problem: expect.stringContaining('ECONNREFUSED') })
  })

  it.each(['/v2/', '/v2/_catalog'])('has failed where it answers 500 to %s, a few times', async path => {
    let count = 0
    const answer = await through(({ url }, outgoing) => {
      if (url?.split('?')[0] !== path) return false
      count++
      return answerWith(500)(outgoing)
    })
    expect(answer).toEqual({ kind: 'failed', problem: expect.stringContaining('it answered 500') })
    expect(count).toBe(4)
  })

  it('has failed where the second page cannot be had', async () => {
    const handle: Handler = ({ url }, outgoing) => {
      if (url === '/v2/_catalog?n=100')
        return answerWith(200, { link: '</v2/_catalog?last=x>; rel="next"' }, '{"repositories":["team/r00"]}')(outgoing)
      return url?.startsWith('/v2/_catalog') === true && answerWith(500)(outgoing)
    }
    expect(await through(handle)).toMatchObject({ kind: 'failed' })
  })

  it('is partial where it answers 500 to one image', async () => {
    const answer = await through(
      ({ url }, outgoing) => url?.includes('team/r07/') === true && answerWith(503)(outgoing),
    )
    expect(answer).toMatchObject({ kind: 'partial', problems: [expect.stringMatching(/^team\/r07: .*503/)] })
    expect(answer.kind === 'partial' && answer.found.length).toBe(names.length - 1)
  })

  it.each([429, 500, 502, 503])('is complete where %d passes', async status => {
    const seen = new Set<string>()
    const answer = await through(({ url = '' }, outgoing) => {
      if (seen.has(url)) return false
      seen.add(url)
      return answerWith(status, { 'retry-after': '0' })(outgoing)
    })
    expect(answer).toMatchObject({ kind: 'complete', problems: [] })
    expect(answer.kind === 'complete' && answer.found.length).toBe(names.length)
  })

  it('does not wait as long as it is told to where that is too long', async () => {
    const answer = await through((_, outgoing) => answerWith(429, { 'retry-after': '86400' })(outgoing))
    expect(answer).toMatchObject({ kind: 'failed', problem: expect.stringContaining('429') })
  })

  it('has failed where it does not answer in time', async () => {
    const answer = await through(() => true, {}, { timeout: 50 })
    expect(answer).toEqual({
      kind: 'failed',
      problem: expect.stringContaining('no whole reply within 50 milliseconds'),
    })
  })

  it('has failed where a list never ends to come', async () => {
    const handle: Handler = ({ url }, outgoing) => {
      if (url?.startsWith('/v2/_catalog') !== true) return false
      outgoing.writeHead(200).write('{"repositories":[')
      return true
    }
    // Long enough for the request before it.
    expect(await through(handle, {}, { timeout: 1000 })).toMatchObject({
      kind: 'failed',
      problem: expect.stringContaining('_catalog: there was no whole reply'),
    })
  })

  it('is partial where replies are cut in the middle', async () => {
    const answer = await through(({ url }, outgoing) => {
      if (!url?.includes('team/r03/manifests/')) return false
      outgoing.writeHead(200, { 'content-length': '1000' }).write('{"schemaVersion"', () => outgoing.destroy())
      return true
    })
    expect(answer).toMatchObject({ kind: 'partial', problems: [expect.stringMatching(/^team\/r03: .*cut/)] })
  })

  it('has failed where the list is cut in the middle', async () => {
    const answer = await through(({ url }, outgoing) => {
      if (!url?.startsWith('/v2/_catalog')) return false
      outgoing.writeHead(200).write('{"repositories":["team/r00"', () => outgoing.destroy())
      return true
    })
    expect(answer).toMatchObject({ kind: 'failed' })
  })

  it('is asked no more once it has gone silent', async () => {
    const front = await inFront(({ url }, outgoing) => {
      if (isManifest(url)) outgoing.destroy()
      return isManifest(url)
    })
    const answer = await ask({ type: 'oci', url: front.url })
    expect(answer).toMatchObject({ kind: 'partial', found: [] })
    expect(answer.kind === 'partial' && answer.problems.length).toBe(names.length)
    expect(front.seen.filter(({ path }) => isManifest(path)).length).toBeLessThan(names.length)
  })

  it('is partial where something before it answers 404: only the registry knows what is gone', async () => {
    const html = answerWith(404, { 'content-type': 'text/html' }, '<h1>Not found</h1>')
    const answer = await through(({ url }, outgoing) => url?.includes('team/r01/') === true && html(outgoing))
    expect(answer).toMatchObject({ kind: 'partial', problems: [expect.stringContaining('team/r01: ')] })
  })

  it('is partial where it lists nothing and images are named', async () => {
    const handle: Handler = ({ url }, outgoing) => url?.startsWith('/v2/_catalog') === true && answerWith(403)(outgoing)
    expect(await through(handle, { images: ['team/r00'] })).toMatchObject({
      kind: 'partial',
      found: [{ name: 'team/r00' }],
      problems: [expect.stringContaining('refuses access (403)')],
    })
    expect(await through(handle)).toMatchObject({ kind: 'failed' })
  })

  it.each([
    ['is not a list', {}, '{"repositories":"team/r00"}', 'not a list'],
    ['is no JSON', {}, '<html>', 'not JSON'],
    ['is nested deeply', {}, '['.repeat(100_000), 'too deep'],
    ['leads to itself', { link: '</v2/_catalog?n=100>; rel="next"' }, '{"repositories":[]}', 'no end'],
    [
      'leads elsewhere',
      { link: '<http://192.0.2.1/v2/_catalog>; rel="next"' },
      '{"repositories":[]}',
      'another server',
    ],
    ['is too long', {}, `{"repositories":["${'x'.repeat(5 * 1024 * 1024)}"]}`, 'the limit'],
    ['is encoded', { 'content-encoding': 'gzip' }, '{}', 'encoded'],
  ])('has failed where its list %s', async (_, headers, body, message) => {
    const answer = await through(
      ({ url }, outgoing) => url?.startsWith('/v2/_catalog') === true && answerWith(200, headers, body)(outgoing),
    )
    expect(answer).toEqual({ kind: 'failed', problem: expect.stringContaining(message) })
  })

  it('has failed where it is not a registry', async () => {
    expect(await through((_, outgoing) => answerWith(404)(outgoing))).toMatchObject({
      kind: 'failed',
      problem: expect.stringContaining('no registry of the distribution API'),
    })
  })

  it.each([
    ['lies about a digest', '{"schemaVersion":2}', { 'docker-content-digest': `sha256:${'0'.repeat(64)}` }, 'digest'],
    ['has a manifest of schema 1', '{"schemaVersion":1}', {}, 'schema 1'],
    ['has an empty index', '{"schemaVersion":2,"manifests":[]}', {}, 'names no manifest'],
    ['has a manifest of nothing', '[]', {}, 'not a JSON object'],
    ['leads out of the registry', '{"schemaVersion":2,"config":{"digest":"sha256:../../x"}}', {}, 'no configuration'],
  ])('is partial where it %s', async (_, body, headers, message) => {
    const answer = await through(
      ({ url }, outgoing) => url?.includes('team/r02/') === true && answerWith(200, headers, body)(outgoing),
    )
    expect(answer).toMatchObject({ kind: 'partial', problems: [expect.stringContaining(message)] })
  })

  it('does not follow a name that is none', async () => {
    const list = JSON.stringify({ repositories: ['../secrets', 'team/r00'] })
    const front = await inFront(
      ({ url }, outgoing) => url?.startsWith('/v2/_catalog') === true && answerWith(200, {}, list)(outgoing),
    )
    expect(await ask({ type: 'oci', url: front.url })).toMatchObject({ kind: 'partial', found: [{ name: 'team/r00' }] })
    expect(front.seen.some(({ path }) => path.includes('secrets'))).toBe(false)
  })

  it('follows redirections, and takes no credentials along to another server', async () => {
    const other = await inFront(() => false)
    const front = await inFront(({ url = '', headers }, outgoing) => {
      if (headers.authorization === undefined)
        return answerWith(401, { 'www-authenticate': 'Basic realm="x"' })(outgoing)
      return url.includes('/blobs/') && answerWith(307, { location: `${other.url}${url}` })(outgoing)
    })
    const answer = await ask({ type: 'oci', url: front.url, user: 'u', pass: 'p', private_hosts: ['127.0.0.1'] })
    expect(answer).toMatchObject({ kind: 'complete', problems: [] })
    expect(other.seen).toHaveLength(names.length)
    expect(other.seen.every(({ authorization }) => authorization === undefined)).toBe(true)
  })

  it('does not follow redirections for ever', async () => {
    const answer = await through(({ url = '' }, outgoing) => answerWith(302, { location: url })(outgoing))
    expect(answer).toMatchObject({ kind: 'failed', problem: expect.stringContaining('redirects more than') })
  })

  it('has failed, at once, where it is stopped while it is asked', async () => {
    const controller = new AbortController()
    const front = await inFront(({ url }) => {
      if (!isManifest(url)) return false
      controller.abort()
      return true
    })
    const registry = registryFor({ type: 'oci', url: front.url }, { clock: systemClock })
    expect(await registry.list(controller.signal)).toEqual({
      kind: 'failed',
      problem: expect.stringContaining('stopped'),
    })
  })
})
