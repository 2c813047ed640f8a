import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ListenError, listen } from '../../src/http/node.ts'
import { createEcho, exchange, serving } from './sockets.ts'

const folder = mkdtempSync(join(tmpdir(), 'purser-tls-'))
const at = (name: string) => join(folder, name)

beforeAll(() => {
  for (const name of ['server', 'client']) {
    const subject = ['-subj', `/CN=${name}`, '-addext', 'subjectAltName=IP:127.0.0.1', '-days', '2']
    const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
    const files = ['-keyout', at(`${name}.key`), '-out', at(`${name}.crt`)]
    execFileSync('openssl', ['req', '-x509', ...key, ...subject, ...files], { stdio: 'ignore' })
  }
  writeFileSync(at('noise.pem'), 'canary-not-a-certificate')
})

afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('TLS', () => {
  it('serves https, and the application knows it', async () => {
    const { app } = createEcho()
    await serving(
      app,
      async ({ url }) => {
        expect(url).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/)
        expect(JSON.parse(await get(url))).toMatchObject({ encrypted: true, url: '/v2/catalog' })
      },
      { tls: { cert: at('server.crt'), key: at('server.key') } },
    )
  })

  it('with a CA serves only clients that show its certificate', async () => {
    const { app, bodies } = createEcho()
    await serving(
      app,
      async ({ url }) => {
        await expect(get(url)).rejects.toThrow()
        await expect(get(url, 'server')).rejects.toThrow()
        expect(bodies).toEqual([])
        expect(JSON.parse(await get(url, 'client'))).toMatchObject({ encrypted: true })
      },
      { tls: { cert: at('server.crt'), key: at('server.key'), ca: at('client.crt') } },
    )
  })

  it('drops a client that speaks plain HTTP, and closes under a handshake that never comes', async () => {
    const { app, bodies } = createEcho()
    const server = await listen({
      app,
      host: '127.0.0.1',
      port: 0,
      tls: { cert: at('server.crt'), key: at('server.key') },
    })
    await exchange(server.port, 'GET / HTTP/1.1\r\nHost: x\r\n\r\n').catch(() => '')
    const silent = connect(server.port, '127.0.0.1')
    await get(server.url)
    await server.close(600_000)
    silent.destroy()
    expect(bodies).toEqual([''])
  })

  it.each([
    [
      'a certificate that is not there',
      'missing.crt',
      'server.key',
      /certificate .*missing\.crt cannot be read \(ENOENT\)/,
    ],
    ['a key that is not there', 'server.crt', 'missing.key', /private key .*missing\.key cannot be read \(ENOENT\)/],
    ['noise for a certificate', 'noise.pem', 'server.key', /certificate .*noise\.pem cannot be used/],
    ['noise for a key', 'server.crt', 'noise.pem', /private key .*noise\.pem cannot be used/],
    ['a key of another certificate', 'server.crt', 'client.key', /client\.key does not belong to .*server\.crt/],
  ])('refuses %s, and shows nothing of it', async (_, cert, key, reason) => {
    const { app } = createEcho()
    const started = listen({ app, host: '127.0.0.1', port: 0, tls: { cert: at(cert), key: at(key) } })
    await expect(started).rejects.toThrow(ListenError)
    await expect(started).rejects.toThrow(reason)
    await expect(started).rejects.not.toThrow(/canary/)
  })
})

function get(url: string, client?: string): Promise<string> {
  const own =
    client === undefined ? {} : { cert: readFileSync(at(`${client}.crt`)), key: readFileSync(at(`${client}.key`)) }
  return new Promise((resolve, reject) => {
    request(`${url}/v2/catalog`, { ca: readFileSync(at('server.crt')), agent: false, ...own }, response => {
      text(response).then(resolve, reject)
    })
      .on('error', reject)
      .end()
  })
}
