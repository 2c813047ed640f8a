import type { BrokerContext } from '../broker/context.ts'
import { findDashboard } from '../broker/dashboard.ts'
import { BrokerError } from '../protocol/errors.ts'
import type { HttpResponse } from './message.ts'
import { methodNotAllowed } from './respond.ts'
import { decodeSegment } from './routes.ts'

/** GET /dashboards/:instance_id/:token: leads to the dashboard of a service that says `dashboard: 'redirect'`. */
export async function dashboardRedirect(broker: BrokerContext, method: string, path: string): Promise<HttpResponse> {
  if (method !== 'GET' && method !== 'HEAD') throw methodNotAllowed(['GET', 'HEAD'])
  const [, , id = '', token = '', ...rest] = path.split('/')
  const found =
    token === '' || rest.length > 0 ? { kind: 'none' as const } : await findDashboard(broker, decodeSegment(id), token)
  if (found.kind === 'found') return { status: 302, headers: { location: toHeaderText(found.url) }, body: '' }
  if (found.kind === 'none') throw new BrokerError('NotFound', 'There is no dashboard at this address.')
  return {
    status: 503,
    headers: { 'content-type': 'text/html; charset=utf-8', 'retry-after': '5', refresh: '5' },
    body: '<!doctype html><title>Not yet</title><p>The instance is still being created. This page looks again by itself.',
  }
}

/** An author may build the URL from an id or a name as it is: what a header cannot carry is percent-encoded. */
function toHeaderText(url: string): string {
  return url.replace(/[^!-~]+/g, text => encodeURIComponent(Buffer.from(text).toString()))
}
