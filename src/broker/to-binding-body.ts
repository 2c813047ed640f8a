import { wrongResult } from '../author/check-result.ts'
import type { BindResult } from '../author/results.ts'
import type { ActionResult } from '../domain/outcome.ts'
import { answers } from '../protocol/answers.ts'
import { latestMinor } from '../protocol/api-version.ts'
import type { JsonObject } from '../protocol/json.ts'
import type { Offering, Requires } from '../protocol/offering.ts'
import { toWire } from '../shape/wire.ts'

/** What an author's bind returned, as platforms read it. It was checked where it was returned. */
export function toBindingBody(
  offering: Offering,
  result: BindResult<object, object>,
): Pick<ActionResult, 'binding' | 'expiresAt'> {
  const { credentials, syslogDrainUrl, routeServiceUrl, volumeMounts, endpoints, metadata } = result
  if (syslogDrainUrl !== undefined) needs(offering, 'syslog_drain', 'syslogDrainUrl')
  if (routeServiceUrl !== undefined) needs(offering, 'route_forwarding', 'routeServiceUrl')
  if (volumeMounts !== undefined) needs(offering, 'volume_mount', 'volumeMounts')
  // A service with `requires` may arrange everything with the platform in other ways.
  if ((offering.requires ?? []).length === 0 && credentials === undefined && endpoints === undefined)
    throw wrongResult('bind', 'credentials are missing; return { credentials: {} } where an application needs none')
  const expiresAt = toDate(metadata?.expiresAt)
  const renewBefore = toDate(metadata?.renewBefore)
  const answer = {
    credentials: credentials as JsonObject | undefined,
    syslogDrainUrl,
    routeServiceUrl,
    volumeMounts,
    endpoints,
    metadata: { expiresAt: expiresAt?.toISOString(), renewBefore: renewBefore?.toISOString() },
  }
  return { binding: toWire(answers.bind, answer, latestMinor), expiresAt: expiresAt?.getTime() }
}

function toDate(time: Date | string | undefined): Date | undefined {
  return time === undefined ? undefined : new Date(time)
}

/** A platform would throw the answer away and leave the credentials behind. */
function needs(offering: Offering, permission: Requires, key: string): void {
  if (offering.requires?.includes(permission)) return
  throw wrongResult('bind', `${key} needs requires: ['${permission}'] in the catalog, or platforms reject it`)
}
