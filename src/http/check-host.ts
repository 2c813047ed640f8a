import { BrokerError } from '../protocol/errors.ts'
import { malformed } from '../protocol/request-fields.ts'
import { isHealthPath } from './open-routes.ts'

export interface HostRules {
  /** Everybody is let in. */
  readonly open?: boolean
  /** Names that the operator allows besides those of this machine; without any, a broker with credentials takes all. */
  readonly hosts?: readonly string[]
  readonly publicUrl?: string
}

/**
 * Refuses a Host that is none: URLs are made from it, and with `x/y?z` it would become a part of their path.
 *
 * Where everybody is let in, and where names are configured, it refuses every other name too. A page of a stranger may lead its
 * own name to this machine (DNS rebinding), and then its scripts are of the same origin as the broker for a browser. Health
 * tells nothing, and is asked for under the address of a pod.
 */
export function createHostCheck({ open = false, hosts = [], publicUrl }: HostRules) {
  const allowed = new Set(hosts.map(nameOf))
  if (publicUrl !== undefined) allowed.add(nameOf(new URL(publicUrl).host))
  const isLimited = open || hosts.length > 0
  /** The one that was fine last: a platform always sends the same. */
  let latest: string | undefined
  return (host: string | undefined, path: string): void => {
    if (host === latest || host === undefined) return
    if (!isHost(host)) throw malformed('it must have one Host header: a name or an address, and maybe a port')
    if (isLimited && !isLoopback(nameOf(host)) && !allowed.has(nameOf(host))) {
      if (!isHealthPath(path)) throw new BrokerError('UnknownHost', unknown)
      return
    }
    latest = host
  }
}

const unknown =
  'The broker does not answer under this name. Use localhost, 127.0.0.1 or [::1], or name the host in server.hosts.'

/** A host name, an IPv4 address, or an IPv6 address in brackets; a port may follow. */
function isHost(host: string): boolean {
  return /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{0,5})?$/i.test(host) && URL.canParse(`http://${host}`)
}

/** Without the port, in the form that all spellings of an address share. */
function nameOf(host: string): string {
  return new URL(`http://${host}`).hostname.replace(/\.$/, '')
}

function isLoopback(name: string): boolean {
  return name === 'localhost' || name === '[::1]' || /^127(\.\d+){3}$/.test(name)
}
