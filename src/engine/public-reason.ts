import { codeOf } from '../shape/thrown.ts'
import { CallTimeout } from './call.ts'
import { PassingError, statusOf } from './errors.ts'

const noAddress = 'a name has no address'
const brokenOff = 'the connection broke off'
const unreached = 'the network does not lead there'

const known: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: brokenOff,
  EPIPE: brokenOff,
  UND_ERR_SOCKET: brokenOff,
  EHOSTUNREACH: unreached,
  ENETUNREACH: unreached,
  ENOTFOUND: noAddress,
  EAI_AGAIN: noAddress,
  ETIMEDOUT: 'no answer in time',
  UND_ERR_CONNECT_TIMEOUT: 'no answer in time',
  TimeoutError: 'no answer in time',
}

/**
 * What a platform may read of an error, in brackets; empty where that is nothing. The message of an error that somebody
 * else's code made is for the log alone: it may name a host, a path or a secret.
 */
export function publicReason(error: unknown): string {
  const reason = reasonOf(error)
  return reason === undefined ? '' : ` (${reason})`
}

function reasonOf(error: unknown, depth = 0): string | undefined {
  if (!(error instanceof Error) || depth > 5) return undefined
  if (error instanceof PassingError || error instanceof CallTimeout) return error.message
  const status = statusOf(error) ?? 0
  if (status >= 400 && status < 600) return `the answer was ${status}`
  return known[codeOf(error) ?? error.name] ?? reasonOf(error.cause, depth + 1)
}
