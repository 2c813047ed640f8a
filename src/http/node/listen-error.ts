import { codeOf, messageOf } from '../../shape/thrown.ts'

/** The server could not begin to listen; the message says what to change. */
export class ListenError extends Error {
  override readonly name = 'ListenError'
}

/** In words what the system said about an address. */
export function toListenError(error: unknown, host: string, port: number): ListenError {
  const reason = explanations[codeOf(error) ?? '']?.(host) ?? messageOf(error)
  return new ListenError(`cannot listen on ${host}:${port}: ${reason}`, { cause: error })
}

const explanations: Readonly<Record<string, (host: string) => string>> = {
  EADDRINUSE: () => 'the port is in use. Stop the other process, or choose another port with --port or server.port.',
  EACCES: () => 'this user may not use the port. Choose one from 1024 on with --port or server.port.',
  EADDRNOTAVAIL: host => `${host} is not an address of this machine. Correct --host or server.host.`,
  ENOTFOUND: host => `the host name ${host} is not known. Correct --host or server.host.`,
  EAI_AGAIN: host => `the host name ${host} could not be looked up. Correct --host or server.host.`,
  EINVAL: host => `${host} cannot be listened on. Correct --host or server.host.`,
}
