import type { Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import type { TlsConnection } from '../../authenticator.ts'

/** What an authenticator may know of an encrypted connection; undefined for a plain one. */
export function tlsOf(socket: Socket): TlsConnection | undefined {
  if (!(socket instanceof TLSSocket)) return undefined
  return {
    protocol: socket.getProtocol() ?? 'unknown',
    authorized: socket.authorized,
    // The certificate is read only for a scheme that asks for it.
    get certificate() {
      const certificate = socket.getPeerX509Certificate()
      return (
        certificate && {
          subject: toName(certificate.subject),
          issuer: toName(certificate.issuer),
          names: certificate.subjectAltName?.split(', ') ?? [],
          fingerprint: certificate.fingerprint256,
          raw: () => certificate.raw,
        }
      )
    },
  }
}

/** Node writes one part per line. */
function toName(lines: string): string {
  return lines.split('\n').join(',')
}
