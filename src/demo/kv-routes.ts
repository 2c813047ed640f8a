import type { Route } from '../author/broker-definition.ts'
import type { KvBackend } from './kv-backend.ts'

/** GET /kv/:store lists the keys; GET, PUT and DELETE /kv/:store/:key read and write. Basic authentication. */
export function createKvRoutes(backend: KvBackend): Route[] {
  const handle = async (request: Request): Promise<Response> => {
    const [store, key] = new URL(request.url).pathname.split('/').slice(2).map(decodeSegment)
    if (store === undefined || store === '') return text(404, 'no such store')
    if (!(await isUser(backend, store, request.headers.get('authorization'))))
      return text(401, 'who are you?\n', { 'www-authenticate': 'Basic realm="kv"' })
    if (key === undefined || key === '') return text(200, (await backend.keys(store)).map(name => `${name}\n`).join(''))
    if (request.method === 'PUT') {
      const hasRoom = await backend.put(store, key, await request.text())
      return hasRoom ? text(200, 'ok\n') : text(507, 'the store is full\n')
    }
    if (request.method === 'DELETE') {
      await backend.delete(store, key)
      return text(200, 'ok\n')
    }
    const value = await backend.get(store, key)
    return value === undefined ? text(404, 'no such key\n') : text(200, value)
  }
  return ['GET', 'PUT', 'DELETE'].map(method => ({ method, path: '/kv/*', handle }))
}

async function isUser(backend: KvBackend, store: string, header: string | null): Promise<boolean> {
  const encoded = /^Basic (.+)$/i.exec(header ?? '')?.[1]
  if (encoded === undefined) return false
  const [user = '', ...password] = Buffer.from(encoded, 'base64').toString('utf8').split(':')
  return backend.authenticate(store, user, password.join(':'))
}

function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return ''
  }
}

function text(status: number, body: string, headers: Record<string, string> = {}): Response {
  return new Response(body, { status, headers: { 'content-type': 'text/plain; charset=utf-8', ...headers } })
}
