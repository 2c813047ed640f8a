import type { Exchange } from './exchange.ts'
import type { HttpResponse } from './message.ts'
import { guarded, methodNotAllowed } from './respond.ts'

export const metricsPath = '/metrics'

export interface ServedMetrics {
  /** Without credentials. */
  readonly open: boolean
  text(): Promise<string>
}

/** GET /metrics, in the text format of Prometheus. */
export async function metricsResponse(metrics: ServedMetrics, exchange: Exchange): Promise<HttpResponse> {
  exchange.route = metricsPath
  if (exchange.method !== 'GET' && exchange.method !== 'HEAD') throw methodNotAllowed(['GET', 'HEAD'])
  return {
    status: 200,
    headers: { ...guarded, 'content-type': 'text/plain; version=0.0.4; charset=utf-8' },
    body: await metrics.text(),
  }
}
