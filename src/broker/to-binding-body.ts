import { wrongResult } from '../author/check-result.ts'
import type { BindResult, Endpoint, VolumeMount } from '../author/results.ts'
import type { JsonObject } from '../protocol/json.ts'
import type { Offering, Requires } from '../protocol/offering.ts'

export interface BindingBody {
  readonly body: JsonObject
  readonly expiresAt?: number
}

/** What an author's bind returned, as platforms read it. It was checked where it was returned. */
export function toBindingBody(offering: Offering, result: BindResult<object, object>): BindingBody {
  const { credentials, syslogDrainUrl, routeServiceUrl, volumeMounts, endpoints, metadata } = result
  if (syslogDrainUrl !== undefined) needs(offering, 'syslog_drain', 'syslogDrainUrl')
  if (routeServiceUrl !== undefined) needs(offering, 'route_forwarding', 'routeServiceUrl')
  if (volumeMounts !== undefined) needs(offering, 'volume_mount', 'volumeMounts')
  // A service with `requires` may arrange everything with the platform in other ways.
  if ((offering.requires ?? []).length === 0 && credentials === undefined && endpoints === undefined)
    throw wrongResult('bind', 'credentials are missing; return { credentials: {} } where an application needs none')
  const expiresAt = toDate(metadata?.expiresAt)
  const renewBefore = toDate(metadata?.renewBefore)
  const hasTimes = expiresAt !== undefined || renewBefore !== undefined
  return {
    body: {
      metadata: hasTimes
        ? { expires_at: expiresAt?.toISOString(), renew_before: renewBefore?.toISOString() }
        : undefined,
      credentials: credentials as JsonObject | undefined,
      syslog_drain_url: syslogDrainUrl,
      route_service_url: routeServiceUrl,
      volume_mounts: volumeMounts?.map(toMount),
      endpoints: endpoints?.map(toEndpoint),
    },
    expiresAt: expiresAt?.getTime(),
  }
}

function toDate(time: Date | string | undefined): Date | undefined {
  return time === undefined ? undefined : new Date(time)
}

function toMount({ driver, containerDir, mode, deviceType, device }: VolumeMount): JsonObject {
  return {
    driver,
    container_dir: containerDir,
    mode,
    device_type: deviceType,
    device: { volume_id: device.volumeId, mount_config: device.mountConfig },
  }
}

function toEndpoint({ host, ports, protocol }: Endpoint): JsonObject {
  return { host, ports, protocol }
}

/** A platform would throw the answer away and leave the credentials behind. */
function needs(offering: Offering, permission: Requires, key: string): void {
  if (offering.requires?.includes(permission)) return
  throw wrongResult('bind', `${key} needs requires: ['${permission}'] in the catalog, or platforms reject it`)
}
