/** A token service as docker-registry trusts it: it signs what was asked for, to whoever it knows. */
import { createSign, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { Certificate } from './certificate.ts'

export interface TokenServer {
  readonly realm: string
  readonly asked: readonly { readonly scopes: readonly string[]; readonly authorization: string | undefined }[]
  stop(): Promise<void>
}

export async function startTokenServer(
  { certificate, key }: Certificate,
  user: { readonly username: string; readonly password: string },
): Promise<TokenServer> {
  const asked: { scopes: readonly string[]; authorization: string | undefined }[] = []
  const known = `Basic ${Buffer.from(`${user.username}:${user.password}`).toString('base64')}`
  const x5c = [certificate.replaceAll(/-----[^-]+-----|\s/g, '')]
  const server = createServer((incoming, outgoing) => {
    const query = new URL(incoming.url ?? '/', 'http://tokens').searchParams
    const scopes = query.getAll('scope')
    const { authorization } = incoming.headers
    asked.push({ scopes, authorization })
    if (authorization !== known) return void outgoing.writeHead(401).end('{}')
    const access = scopes.map(scope => {
      const [type, name, actions = ''] = scope.split(':')
      return { type, name, actions: actions.split(',') }
    })
    const now = Math.floor(Date.now() / 1000)
    const claims = {
      iss: 'tests',
      sub: user.username,
      aud: query.get('service'),
      exp: now + 300,
      nbf: now - 60,
      iat: now,
    }
    const parts = [
      { typ: 'JWT', alg: 'RS256', x5c },
      { ...claims, jti: randomUUID(), access },
    ].map(part => Buffer.from(JSON.stringify(part)).toString('base64url'))
    const signature = createSign('RSA-SHA256').update(parts.join('.')).sign(key, 'base64url')
    outgoing.writeHead(200, { 'content-type': 'application/json' })
    outgoing.end(JSON.stringify({ token: [...parts, signature].join('.'), expires_in: 300 }))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return {
    realm: `http://127.0.0.1:${address.port}/token`,
    asked,
    async stop() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
