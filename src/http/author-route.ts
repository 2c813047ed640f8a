import type { LedgerView, Route } from '../author/broker-definition.ts'
import { type HttpRequest, type HttpResponse, originOf } from './message.ts'

/** Above the OSB body limit: an author's own route may carry more than parameters. */
const bodyLimit = 10 * 1024 * 1024

export function findAuthorRoute(routes: readonly Route[], method: string, path: string): Route | undefined {
  return routes.find(route => route.method === method && matches(route.path, path))
}

export async function runAuthorRoute(route: Route, request: HttpRequest, ledger: LedgerView): Promise<HttpResponse> {
  const hasBody = request.method !== 'GET' && request.method !== 'HEAD'
  const headers = Object.entries(request.headers).filter((entry): entry is [string, string] => entry[1] !== undefined)
  const response = await route.handle(
    new Request(originOf(request) + request.url, {
      method: request.method,
      headers,
      body: hasBody ? Buffer.from(await request.body(bodyLimit)) : undefined,
    }),
    { instance: id => ledger.instance(id), binding: (instanceId, id) => ledger.binding(instanceId, id) },
  )
  const answered: Record<string, string | string[]> = Object.fromEntries(response.headers)
  if (response.headers.has('set-cookie')) answered['set-cookie'] = response.headers.getSetCookie()
  return { status: response.status, headers: answered, body: new Uint8Array(await response.arrayBuffer()) }
}

function matches(pattern: string, path: string): boolean {
  return pattern.endsWith('/*') ? path.startsWith(pattern.slice(0, -1)) : path === pattern
}
