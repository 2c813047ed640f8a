import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync, brotliDecompressSync, gunzipSync } from 'node:zlib'
import express from 'express'
import Fastify from 'fastify'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createBasicAuthenticator } from '../../src/authenticator/basic.ts'
import { createBroker } from '../../src/create-broker.ts'
import { toExpress } from '../../src/http/express.ts'
import { toFastify } from '../../src/http/fastify.ts'
import type { Settings } from '../../src/settings/settings.ts'
import { serviceOf } from '../engine/world.ts'
import { builtConsole as built } from './built.ts'
import { users } from './users.ts'

const assets = () => readdirSync(join(built, 'assets'))

function open(settings: Settings = {}) {
  const broker = createBroker(
    { services: [serviceOf({})] },
    { store: 'memory:', authenticator: createBasicAuthenticator(users), settings, observer: {} },
  )
  onTestFinished(() => broker.close())
  return broker
}

async function ask(path: string, headers: Record<string, string> = {}, settings?: Settings) {
  return open(settings).fetch(new Request(`http://localhost${path}`, { headers }))
}

describe('the files of the console', () => {
  it('are under 110 kB in all, compressed', () => {
    const files = [join(built, 'index.html'), ...assets().map(name => join(built, 'assets', name))]
    const sizes = files.map(file => brotliCompressSync(readFileSync(file)).length)
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(110_000)
    expect(assets().length).toBeGreaterThan(2)
  })

  it('name nothing outside of the broker, and hold no code in the page', () => {
    const page = readFileSync(join(built, 'index.html'), 'utf8')
    expect(page).not.toMatch(/<style|\son\w+=|<script(?![^>]*\ssrc=)/)
    for (const [, link = ''] of page.matchAll(/(?:src|href)="([^"]*)"/g)) expect(link).toMatch(/^\.\//)
    const styles = assets().filter(name => name.endsWith('.css'))
    for (const name of styles)
      expect(readFileSync(join(built, 'assets', name), 'utf8')).not.toMatch(/url\(["']?https?:|@import/)
  })

  it('have names that change with their content, and may be kept for ever; the page is asked for each time', async () => {
    for (const name of assets()) {
      expect(name).toMatch(/-[\w-]{8}\.\w+$/)
      const file = await ask(`/console/assets/${name}`)
      expect(file.status).toBe(200)
      expect(file.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
    }
    const page = await ask('/console/')
    expect(page.headers.get('cache-control')).toBe('no-cache')
    const etag = page.headers.get('etag') ?? ''
    expect((await ask('/console/', { 'if-none-match': etag })).status).toBe(304)
  })

  it('need no credentials, and come with a policy that allows nothing else', async () => {
    const { status, headers } = await ask('/console/')
    expect(status).toBe(200)
    const policy = headers.get('content-security-policy') ?? ''
    expect(policy).toContain("default-src 'none'")
    expect(policy).toContain("frame-ancestors 'none'")
    expect(policy).not.toMatch(/unsafe|https?:|\*/)
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.get('referrer-policy')).toBe('no-referrer')
  })

  it.each([
    ['br', 'br'],
    ['gzip', 'gzip'],
    ['gzip, br', 'br'],
    ['br;q=0, gzip', 'gzip'],
    ['br;q=0.5', 'br'],
    ['identity', null],
    ['', null],
  ])('are compressed for who takes it: %j', async (accepted, encoding) => {
    const whole = await (await ask('/console/')).text()
    const broker = open()
    const response = await broker.handle({
      method: 'GET',
      url: '/console/',
      headers: { host: 'localhost', 'accept-encoding': accepted },
      encrypted: false,
      body: async () => new Uint8Array(0),
    })
    expect(response.headers['content-encoding'] ?? null).toBe(encoding)
    expect(response.headers.vary).toBe('accept-encoding')
    const bytes = Buffer.from(response.body)
    const text = encoding === 'br' ? brotliDecompressSync(bytes) : encoding === 'gzip' ? gunzipSync(bytes) : bytes
    expect(text.toString()).toBe(whole)
  })

  it.each([
    '/console/assets/../index.html',
    '/console/assets/%2e%2e%2findex.html',
    '/console/assets/x.js',
    '/console/assets/',
  ])('%s is not one of them', async path => {
    const { handle } = open()
    const body = async () => new Uint8Array(0)
    const response = await handle({ method: 'GET', url: path, headers: { host: 'localhost' }, encrypted: false, body })
    expect(response.status).toBe(404)
  })

  it('are read only', async () => {
    const response = await open().fetch(new Request('http://localhost/console/', { method: 'POST' }))
    expect(response.status).toBe(405)
  })

  it('are not there where the console is off', async () => {
    const settings = { console: { enabled: false } }
    expect((await ask('/console/', {}, settings)).status).toBe(401)
    expect((await ask('/console', {}, settings)).status).toBe(401)
  })
})

describe('the page', () => {
  it.each([
    ['/console/', './'],
    ['/console/operations', './'],
    ['/console/operations/a%2Fb', '../'],
    ['/console/a/b/c', '../../'],
  ])('at %s finds its files at %s', async (path, base) => {
    expect(await (await ask(path)).text()).toContain(`<base href="${base}"`)
  })

  it('is led to with a slash at its end', async () => {
    const response = await ask('/console')
    expect([response.status, response.headers.get('location')]).toEqual([308, 'console/'])
  })

  it.each(['Express', 'Fastify'])('is served by %s under a prefix, with its files', async host => {
    const url = host === 'Express' ? await byExpress() : await byFastify()
    const response = await fetch(`${url}/inner/broker/console/operations/x`)
    const page = await response.text()
    const base = new URL(/<base href="([^"]*)"/.exec(page)?.[1] ?? '', response.url)
    expect(base.pathname).toBe('/inner/broker/console/')
    const script = /src="([^"]*)"/.exec(page)?.[1] ?? ''
    const file = await fetch(new URL(script, base))
    expect([file.status, file.headers.get('content-type')]).toEqual([200, 'text/javascript; charset=utf-8'])
    const session = await fetch(new URL('../admin/session', base), {
      method: 'POST',
      headers: { authorization: `Basic ${btoa(`${users[0]?.username}:${users[0]?.password}`)}` },
    })
    expect(session.headers.getSetCookie()[0]).toContain('Path=/inner/broker;')
  })
})

async function byExpress(): Promise<string> {
  const app = express()
  app.use('/inner/broker', toExpress(open()))
  const server = app.listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await new Promise(resolve => server.once('listening', resolve))
  const address = server.address()
  return `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`
}

async function byFastify(): Promise<string> {
  const app = Fastify()
  await app.register(toFastify(open()), { prefix: '/inner/broker' })
  onTestFinished(() => app.close())
  return app.listen({ port: 0, host: '127.0.0.1' })
}
