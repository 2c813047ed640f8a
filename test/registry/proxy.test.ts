import { once } from 'node:events'
import { createServer, request } from 'node:http'
import { connect } from 'node:net'
import type { Duplex } from 'node:stream'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Certificate, makeCertificate } from './certificate.ts'
import { type RegistryServer, startRegistry, whyNoRegistry } from './docker-registry.ts'
import { labelsOf, pushImage, specText } from './push.ts'
import { ask } from './settings-for.ts'

const reason = whyNoRegistry()

/** A proxy that knows registry.test, and nobody else does. */
async function startProxy(plain: number, secure: number) {
  const seen: { readonly what: string; readonly authorization: string | undefined }[] = []
  const server = createServer((incoming, outgoing) => {
    const { method, headers } = incoming
    const { pathname, search, host } = new URL(incoming.url ?? '')
    seen.push({ what: `${method} ${host}`, authorization: headers['proxy-authorization'] })
    const onward = request({ host: '127.0.0.1', port: plain, method, path: `${pathname}${search}`, headers }, reply => {
      outgoing.writeHead(reply.statusCode ?? 502, reply.headers)
      reply.pipe(outgoing)
    })
    incoming.pipe(onward)
  })
  const tunnels = new Set<Duplex>()
  server.on('connect', (incoming, socket) => {
    tunnels.add(socket)
    seen.push({ what: `CONNECT ${incoming.url}`, authorization: incoming.headers['proxy-authorization'] })
    if (incoming.url !== 'registry.test:443') return socket.end('HTTP/1.1 403 Forbidden\r\n\r\n')
    const onward = connect(secure, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n')
      onward.pipe(socket).pipe(onward)
    })
    onward.on('error', () => socket.destroy())
    socket.on('error', () => onward.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  const url = `http://me:proxy-pass@127.0.0.1:${address.port}`
  return {
    seen,
    settings: { HTTP_PROXY: url, HTTPS_PROXY: url },
    async stop() {
      server.closeAllConnections()
      for (const tunnel of tunnels) tunnel.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

describe.skipIf(reason !== undefined)(`a registry behind a proxy${reason === undefined ? '' : ` (${reason})`}`, () => {
  let pair: Certificate
  let plain: RegistryServer
  let secure: RegistryServer
  let proxy: Awaited<ReturnType<typeof startProxy>>
  const authorization = `Basic ${Buffer.from('me:proxy-pass').toString('base64')}`

  beforeAll(async () => {
    pair = makeCertificate()
    plain = await startRegistry()
    secure = await startRegistry({ tls: pair })
    proxy = await startProxy(plain.port, secure.port)
    await pushImage(`http://127.0.0.1:${plain.port}`, 'team/pg', labelsOf(specText('pg')))
  }, 60_000)
  afterAll(async () => {
    await proxy?.stop()
    await plain?.stop()
    await secure?.stop()
  })

  it('is asked through it', async () => {
    const answer = await ask({ type: 'oci', url: 'http://registry.test' }, { proxy: proxy.settings })
    expect(answer).toMatchObject({
      kind: 'complete',
      found: [{ image: expect.stringMatching(/^registry\.test\/team\/pg@sha256:/) }],
    })
    expect(proxy.seen).toContainEqual({ what: 'GET registry.test', authorization })
  })

  it('is asked through a tunnel where it has TLS, whose certificate is checked', async () => {
    const url = 'https://registry.test'
    const trusted = await ask({ type: 'oci', url, ca: pair.certificate }, { proxy: proxy.settings })
    expect(trusted).toEqual({ kind: 'complete', found: [], problems: [] })
    expect(proxy.seen).toContainEqual({ what: 'CONNECT registry.test:443', authorization })
    const untrusted = await ask({ type: 'oci', url }, { proxy: proxy.settings })
    expect(untrusted).toMatchObject({ kind: 'failed', problem: expect.stringContaining('not trusted') })
  })

  it('has failed where the proxy refuses, and shows no credentials', async () => {
    const answer = await ask({ type: 'oci', url: 'https://other.test' }, { proxy: proxy.settings })
    expect(answer).toEqual({ kind: 'failed', problem: expect.stringContaining('answered 403') })
    expect(JSON.stringify(answer)).not.toContain('proxy-pass')
  })
})
