import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import type { Server } from 'node:http'
import type { ServerOptions } from 'node:https'
import { createSecureContext, type SecureContextOptions } from 'node:tls'
import { codeOf, messageOf } from '../../shape/thrown.ts'
import { ListenError } from './listen-error.ts'
import type { TlsFiles } from './tls-files.ts'

/**
 * Connections that the system keeps until they are taken. With node's own 511, a client may have to knock again, a second
 * later, when many come at once.
 */
const backlog = 4096

/** Throws a ListenError that says in words what the system said about the address. */
export async function bind(server: Server, host: string, port: number): Promise<void> {
  try {
    server.listen({ host, port, backlog })
    await once(server, 'listening')
  } catch (error) {
    const reason = explanations[codeOf(error) ?? '']?.(host) ?? messageOf(error)
    throw new ListenError(`cannot listen on ${host}:${port}: ${reason}`, { cause: error })
  }
}

const explanations: Readonly<Record<string, (host: string) => string>> = {
  EADDRINUSE: () => 'the port is in use. Stop the other process, or choose another port with --port or server.port.',
  EACCES: () => 'this user may not use the port. Choose one from 1024 on with --port or server.port.',
  EADDRNOTAVAIL: host => `${host} is not an address of this machine. Correct --host or server.host.`,
  ENOTFOUND: host => `the host name ${host} is not known. Correct --host or server.host.`,
  EAI_AGAIN: host => `the host name ${host} could not be looked up. Correct --host or server.host.`,
  EINVAL: host => `${host} cannot be listened on. Correct --host or server.host.`,
}

/** Reads and tries the files, so that a wrong one is named now and not with the first handshake. */
export async function loadTls(files: TlsFiles): Promise<ServerOptions> {
  const cert = await read('certificate', files.cert)
  const key = await read('private key', files.key)
  const ca = files.ca === undefined ? undefined : await read('CA certificate', files.ca)
  attempt(`the certificate ${files.cert} cannot be used`, { cert })
  attempt(`the private key ${files.key} cannot be used`, { key })
  attempt(`the private key ${files.key} does not belong to the certificate ${files.cert}`, { cert, key })
  if (ca === undefined) return { cert, key }
  attempt(`the CA certificate ${files.ca} cannot be used`, { ca }, () => new X509Certificate(ca))
  const crl = files.crl === undefined ? undefined : await read('revocation list', files.crl)
  if (crl !== undefined) attempt(`the revocation list ${files.crl} cannot be used`, { ca, crl })
  const rejectUnauthorized = files.clientCertificates !== 'optional'
  return { cert, key, ca, ...(crl && { crl }), requestCert: true, rejectUnauthorized }
}

async function read(what: string, path: string): Promise<Buffer> {
  try {
    return await readFile(path)
  } catch (error) {
    throw new ListenError(`the ${what} ${path} cannot be read (${codeOf(error)}): check server.tls`, { cause: error })
  }
}

function attempt(problem: string, use: SecureContextOptions, read: () => unknown = () => undefined): void {
  try {
    // OpenSSL takes a file without any CA for no CA.
    read()
    createSecureContext(use)
  } catch (error) {
    // OpenSSL's own words name the fault, never the content.
    throw new ListenError(`${problem} (${messageOf(error)}): check server.tls`, { cause: error })
  }
}
