import type { HttpResponse } from './message.ts'
import { json, methodNotAllowed } from './respond.ts'

export interface Health {
  /** Why requests cannot be served now, in a word for the operator; undefined when they can. */
  readiness(): Promise<string | undefined>
}

/** /healthz: the process answers. /readyz: it can serve requests now. */
export async function healthResponse(health: Health, path: string, method: string): Promise<HttpResponse> {
  if (method !== 'GET' && method !== 'HEAD') throw methodNotAllowed(['GET', 'HEAD'])
  if (path === '/healthz') return json(200, { status: 'ok' })
  const trouble = await health.readiness()
  return trouble === undefined ? json(200, { status: 'ready' }) : json(503, { status: 'not ready', reason: trouble })
}
