import type { BindResult, Endpoint, VolumeMount } from '../author/results.ts'
import { TerminalError } from '../engine/errors.ts'
import { isJsonObject, type JsonObject } from '../protocol/json.ts'
import type { Offering, Requires } from '../protocol/offering.ts'

export interface BindingBody {
  readonly body: JsonObject
  readonly expiresAt?: number
}

/**
 * What an author's bind returned, as platforms read it. A result that a platform would throw away (and leave the
 * credentials behind) is the author's mistake and fails the bind with what to correct.
 */
export function toBindingBody(offering: Offering, result: BindResult<object, object>): BindingBody {
  const { credentials, syslogDrainUrl, routeServiceUrl, volumeMounts, endpoints, metadata } = result
  if (syslogDrainUrl !== undefined) needs(offering, 'syslog_drain', 'syslogDrainUrl')
  if (routeServiceUrl !== undefined) needs(offering, 'route_forwarding', 'routeServiceUrl')
  for (const [key, url] of Object.entries({ syslogDrainUrl, routeServiceUrl }))
    if (url !== undefined && (typeof url !== 'string' || url === '')) throw wrong(`${key} must be a non-empty string`)
  if (volumeMounts !== undefined) needs(offering, 'volume_mount', 'volumeMounts')
  if (credentials !== undefined && !isJsonObject(credentials)) throw wrong('credentials must be an object')
  const expiresAt = toInstant(metadata?.expiresAt, 'metadata.expiresAt')
  const renewBefore = toInstant(metadata?.renewBefore, 'metadata.renewBefore')
  if (expiresAt !== undefined && renewBefore !== undefined && renewBefore > expiresAt)
    throw wrong('metadata.renewBefore must not be later than metadata.expiresAt')
  const times = {
    ...(expiresAt === undefined ? {} : { expires_at: new Date(expiresAt).toISOString() }),
    ...(renewBefore === undefined ? {} : { renew_before: new Date(renewBefore).toISOString() }),
  }
  return {
    body: {
      ...(Object.keys(times).length === 0 ? {} : { metadata: times }),
      ...(credentials === undefined ? {} : { credentials: credentials as JsonObject }),
      syslog_drain_url: syslogDrainUrl,
      route_service_url: routeServiceUrl,
      ...(volumeMounts === undefined ? {} : { volume_mounts: volumeMounts.map(toMount) }),
      ...(endpoints === undefined ? {} : { endpoints: endpoints.map(toEndpoint) }),
    },
    expiresAt,
  }
}

function toMount(mount: VolumeMount): JsonObject {
  const { driver, containerDir, mode, deviceType, device } = mount
  for (const [key, value] of Object.entries({ driver, containerDir, 'device.volumeId': device?.volumeId }))
    if (typeof value !== 'string' || value === '') throw wrong(`volumeMounts[].${key} must be a non-empty string`)
  if (mode !== 'r' && mode !== 'rw') throw wrong('volumeMounts[].mode must be "r" or "rw"')
  if (deviceType !== 'shared') throw wrong('volumeMounts[].deviceType must be "shared"')
  const { volumeId, mountConfig } = device
  if (mountConfig !== undefined && !isJsonObject(mountConfig))
    throw wrong('volumeMounts[].device.mountConfig must be an object')
  return {
    driver,
    container_dir: containerDir,
    mode,
    device_type: deviceType,
    device: { volume_id: volumeId, mount_config: mountConfig },
  }
}

function toEndpoint({ host, ports, protocol }: Endpoint): JsonObject {
  if (typeof host !== 'string' || host === '') throw wrong('endpoints[].host must be a non-empty string')
  if (!Array.isArray(ports) || ports.length === 0 || !ports.every(isPort))
    throw wrong('endpoints[].ports must be a list of strings such as "443" or "9000-9010"')
  if (protocol !== undefined && !['tcp', 'udp', 'all'].includes(protocol))
    throw wrong('endpoints[].protocol must be "tcp", "udp" or "all"')
  return { host, ports, protocol }
}

function isPort(port: unknown): boolean {
  return typeof port === 'string' && /^\d{1,5}(-\d{1,5})?$/.test(port)
}

function toInstant(value: Date | string | undefined, key: string): number | undefined {
  if (value === undefined) return undefined
  const time = new Date(value).getTime()
  if (Number.isNaN(time)) throw wrong(`${key} must be a date`)
  return time
}

function needs(offering: Offering, permission: Requires, key: string): void {
  if (offering.requires?.includes(permission)) return
  throw wrong(`${key} needs requires: ['${permission}'] in the catalog, or platforms reject it`)
}

function wrong(what: string): TerminalError {
  return new TerminalError(`The bind of this service returned what cannot be sent: ${what}.`)
}
