import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Certificate, makeCertificate } from './certificate.ts'
import { type RegistryServer, startRegistry, whyNoRegistry } from './docker-registry.ts'
import { labelsOf, pushImage, specText } from './push.ts'
import { ask } from './settings-for.ts'
import { startTokenServer, type TokenServer } from './token-server.ts'

const reason = whyNoRegistry()
const user = { username: 'reader', password: 's3cret-pass' }
const basic = `Basic ${Buffer.from(`${user.username}:${user.password}`).toString('base64')}`
/** Of the password above. */
const htpasswd = 'reader:$2y$05$abcdefghijklmnopqrstuuV7fpPozvyqJfnY19y0802WTlXUm6Rjy\n'
const inline = { user: user.username, pass: user.password }
const labels = labelsOf(specText('pg'))
const found = [{ name: 'team/pg', source: specText('pg') }]

describe.skipIf(reason !== undefined)(
  `a registry that asks who it is${reason === undefined ? '' : ` (${reason})`}`,
  () => {
    let folder = ''
    let pair: Certificate
    beforeAll(() => {
      folder = mkdtempSync(join(tmpdir(), 'purser-registry-auth-'))
      pair = makeCertificate()
    })
    afterAll(() => rmSync(folder, { recursive: true, force: true }))

    describe('by a user and a password', () => {
      let server: RegistryServer
      let url = ''
      beforeAll(async () => {
        server = await startRegistry({ htpasswd })
        url = `http://127.0.0.1:${server.port}`
        await pushImage(url, 'team/pg', labels, { headers: { authorization: basic } })
      }, 60_000)
      afterAll(() => server?.stop())

      it('gets them, inline, from a file or from a secret', async () => {
        const file = join(folder, 'auth.yml')
        writeFileSync(file, `username: ${user.username}\npassword: ${user.password}\n`)
        const secrets = { read: async (name: string) => (name === 'ours' ? user : undefined) }
        for (const auth of [inline, { auth_type: 'config', ...inline }, { auth_type: 'file', auth_name: file }])
          expect(await ask({ type: 'oci', url, ...auth })).toMatchObject({ kind: 'complete', found })
        const secret = { auth_type: 'secret', auth_name: 'ours' }
        expect(await ask({ type: 'oci', url, ...secret }, { secrets })).toMatchObject({ kind: 'complete', found })
      })

      it.each([
        ['without them', {}, 'refuses access (401)'],
        ['with a wrong password', { user: 'reader', pass: 'wrong-pass' }, 'refuses access (401)'],
        [
          'with a secret and nowhere to read it from',
          { auth_type: 'secret', auth_name: 'ours' },
          'nowhere to read the secret',
        ],
        ['with a file that is not there', { auth_type: 'file', auth_name: '/nowhere/auth' }, 'ENOENT'],
      ])('has failed %s, and shows none', async (_, auth, message) => {
        const answer = await ask({ type: 'oci', url, ...auth })
        expect(answer).toEqual({ kind: 'failed', problem: expect.stringContaining(message) })
        expect(JSON.stringify(answer)).not.toMatch(/wrong-pass|s3cret/)
      })

      it('says of a file of credentials that it is wrong, and not what is in it', async () => {
        const file = join(folder, 'broken.yml')
        writeFileSync(file, 'username: "hush\npassword: hush')
        const answer = await ask({ type: 'oci', url, auth_type: 'file', auth_name: file })
        expect(answer).toEqual({ kind: 'failed', problem: expect.stringContaining('not valid YAML') })
        expect(JSON.stringify(answer)).not.toContain('hush')
      })

      it('is partial where it lists nothing and images are named: the rest is not known', async () => {
        const answer = await ask({ type: 'oci', url, images: ['team/pg'] })
        expect(answer.kind).toBe('failed')
      })
    })

    describe('by a token', () => {
      let tokens: TokenServer
      let server: RegistryServer
      let url = ''
      beforeAll(async () => {
        tokens = await startTokenServer(pair, user)
        const { realm } = tokens
        server = await startRegistry({ token: { realm, service: 'r', issuer: 'tests', certificate: pair.certificate } })
        url = `http://127.0.0.1:${server.port}`
        const query = 'service=r&scope=repository:team/pg:pull,push&scope=repository:team/other:pull,push'
        const reply = await fetch(`${realm}?${query}`, { headers: { authorization: basic } })
        const { token } = (await reply.json()) as { token: string }
        const headers = { authorization: `Bearer ${token}` }
        await pushImage(url, 'team/pg', labels, { headers })
        await pushImage(url, 'team/other', labels, { headers })
      }, 60_000)
      afterAll(async () => {
        await server?.stop()
        await tokens?.stop()
      })

      it('gets one for each repository, and one for the list', async () => {
        const before = tokens.asked.length
        const answer = await ask({ type: 'oci', url, ...inline })
        expect(answer).toMatchObject({ kind: 'complete', found: [{ name: 'team/other' }, ...found], problems: [] })
        const scopes = tokens.asked.slice(before).flatMap(({ scopes }) => scopes)
        expect(new Set(scopes)).toEqual(
          new Set(['registry:catalog:*', 'repository:team/pg:pull', 'repository:team/other:pull']),
        )
        expect(scopes).toHaveLength(3)
      })

      it('gets one token for each image that is named, in its own scope', async () => {
        const images = Array.from({ length: 12 }, (_, index) => `team/gone-${index}`)
        const before = tokens.asked.length
        const answer = await ask({ type: 'registry_proxy', url, images, ...inline })
        expect(answer).toMatchObject({ kind: 'complete', found: [] })
        expect(answer.kind === 'complete' && answer.problems.length).toBe(images.length)
        const scopes = tokens.asked.slice(before).flatMap(one => one.scopes)
        expect(scopes.toSorted()).toEqual(images.map(image => `repository:${image}:pull`).toSorted())
      })

      it('has failed where the token service refuses, and shows no credentials', async () => {
        const answer = await ask({ type: 'oci', url, user: 'reader', pass: 'wrong-pass' })
        expect(answer).toEqual({
          kind: 'failed',
          problem: expect.stringContaining('the token service refuses the credentials'),
        })
        expect(JSON.stringify(answer)).not.toContain('wrong-pass')
        expect(await ask({ type: 'oci', url })).toMatchObject({
          problem: expect.stringContaining('without credentials'),
        })
      })
    })

    describe('behind TLS with a certificate of its own', () => {
      let server: RegistryServer
      let plain: RegistryServer
      let url = ''
      beforeAll(async () => {
        server = await startRegistry({ tls: pair })
        plain = await startRegistry()
        url = `https://127.0.0.1:${server.port}`
      }, 60_000)
      afterAll(async () => {
        await server?.stop()
        await plain?.stop()
      })

      it('is trusted by its authority, from a file or as text, or by not looking', async () => {
        const file = join(folder, 'ca.pem')
        writeFileSync(file, pair.certificate)
        for (const trust of [{ ca: file }, { ca: pair.certificate }, { skip_verify_tls: true }])
          expect(await ask({ type: 'oci', url, ...trust })).toEqual({ kind: 'complete', found: [], problems: [] })
      })

      it('sends no credentials to a token service without TLS', async () => {
        const tokens = await startTokenServer(pair, user)
        const challenge = { 'www-authenticate': `Bearer realm="${tokens.realm}",service="r"` }
        const tricky = createServer({ cert: pair.certificate, key: pair.key }, (_, outgoing) => {
          outgoing.writeHead(401, challenge).end('{}')
        })
        tricky.listen(0, '127.0.0.1')
        await once(tricky, 'listening')
        const address = tricky.address()
        const port = address === null || typeof address === 'string' ? 0 : address.port
        const answer = await ask({ type: 'oci', url: `https://127.0.0.1:${port}`, ca: pair.certificate, ...inline })
        tricky.closeAllConnections()
        tricky.close()
        await tokens.stop()
        expect(answer).toEqual({ kind: 'failed', problem: expect.stringContaining('has no TLS') })
        expect(tokens.asked).toEqual([])
      })

      it('has failed otherwise', async () => {
        const answer = await ask({ type: 'oci', url })
        expect(answer).toEqual({ kind: 'failed', problem: expect.stringContaining('its certificate is not trusted') })
        const wrong = await ask({ type: 'oci', url: `https://127.0.0.1:${plain.port}` })
        expect(wrong).toMatchObject({ kind: 'failed' })
        const missing = await ask({ type: 'oci', url, ca: '/nowhere/ca.pem' })
        expect(missing).toMatchObject({ kind: 'failed', problem: expect.stringContaining('/nowhere/ca.pem') })
      })
    })
  },
)
