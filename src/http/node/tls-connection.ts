import type { X509Certificate } from 'node:crypto'
import type { Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import type { PeerCertificate, TlsConnection } from '../../authenticator.ts'

/** What an authenticator may know of an encrypted connection; undefined for a plain one. */
export function tlsOf(socket: Socket): TlsConnection | undefined {
  return socket instanceof TLSSocket ? new NodeTlsConnection(socket) : undefined
}

/** A class with getters: the certificate is read only for a scheme that asks for it. */
class NodeTlsConnection implements TlsConnection {
  readonly #socket: TLSSocket

  constructor(socket: TLSSocket) {
    this.#socket = socket
  }

  get protocol(): string {
    return this.#socket.getProtocol() ?? 'unknown'
  }

  get authorized(): boolean {
    return this.#socket.authorized
  }

  get certificate(): PeerCertificate | undefined {
    const certificate = this.#socket.getPeerX509Certificate()
    return certificate && toPeerCertificate(certificate)
  }
}

function toPeerCertificate(certificate: X509Certificate): PeerCertificate {
  return {
    subject: toName(certificate.subject),
    issuer: toName(certificate.issuer),
    names: certificate.subjectAltName?.split(', ') ?? [],
    fingerprint: certificate.fingerprint256,
    raw: () => certificate.raw,
  }
}

/** Node writes one part per line. */
function toName(lines: string): string {
  return lines.split('\n').join(',')
}
