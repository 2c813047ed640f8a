import { BrokerError } from '../../protocol/errors.ts'
import type { Exchange } from '../exchange.ts'

/**
 * A browser sends its user's password along, whichever page asks. So what changes something must not come from a page of
 * another site. Browsers say where it comes from, and pages cannot change that; other clients say nothing.
 */
export function refuseCrossSite({ method, headers }: Exchange, publicUrl: string | undefined): void {
  if (method === 'GET' || method === 'HEAD') return
  const { 'sec-fetch-site': site, origin, host } = headers
  if (
    site === undefined
      ? origin === undefined || isOwn(origin, host, publicUrl)
      : site === 'same-origin' || site === 'none'
  )
    return
  throw new BrokerError(
    'CrossSite',
    'This request comes from a page of another site. Where it is your own, set server.publicUrl to its address.',
  )
}

/** By the host only: whoever ends TLS before the broker changes the scheme. */
function isOwn(origin: string, host: string | undefined, publicUrl: string | undefined): boolean {
  if (!URL.canParse(origin)) return false
  const from = new URL(origin).host
  return from === host?.toLowerCase() || (publicUrl !== undefined && from === new URL(publicUrl).host)
}
