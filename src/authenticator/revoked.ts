import { X509Certificate } from 'node:crypto'
import { readValues } from './der.ts'

/** Which certificate of which CA: both as they stand in it. */
export type CertificateId = string

const sequence = 0x30
const integer = 0x02
const times = [0x17, 0x18]

/** Of a certificate in DER. */
export function certificateId(raw: Uint8Array): CertificateId {
  const [certificate] = readValues(Buffer.from(raw))
  const [toBeSigned] = readValues(certificate?.content ?? Buffer.alloc(0))
  const fields = readValues(toBeSigned?.content ?? Buffer.alloc(0))
  // The version, if it is there, is in a tag of its own.
  const serial = fields.find(({ tag }) => tag === integer)
  const [, issuer] = fields.filter(({ tag }) => tag === sequence)
  return toId(issuer?.whole, serial?.content)
}

/**
 * What the revocation lists of a PEM file name (RFC 5280, 5.1). OpenSSL checks the lists, and who has signed them, at each
 * handshake; this is for connections that were open before. Throws where the file has no list.
 */
export function readRevoked(pem: string): ReadonlySet<CertificateId> {
  const lists = [...pem.matchAll(/-----BEGIN X509 CRL-----([\sA-Za-z0-9+/=]+)-----END X509 CRL-----/g)]
  if (lists.length === 0) throw new Error('it holds no revocation list (BEGIN X509 CRL)')
  return new Set(lists.flatMap(([, text = '']) => readList(Buffer.from(text, 'base64'))))
}

function readList(der: Buffer): readonly CertificateId[] {
  try {
    const [list] = readValues(der)
    const [toBeSigned] = readValues(list?.content ?? Buffer.alloc(0))
    const fields = readValues(toBeSigned?.content ?? Buffer.alloc(0))
    const [, issuer, revoked] = fields.filter(({ tag }) => tag === sequence)
    if (issuer === undefined || !fields.some(({ tag }) => times.includes(tag)))
      throw new RangeError('no issuer or time')
    return readValues(revoked?.content ?? Buffer.alloc(0)).map(({ content }) => {
      const [serial] = readValues(content)
      return toId(issuer.whole, serial?.content)
    })
  } catch (cause) {
    throw new Error('its revocation list is malformed', { cause })
  }
}

function toId(issuer: Buffer | undefined, serial: Buffer | undefined): CertificateId {
  return `${issuer?.toString('hex')}/${serial?.toString('hex')}`
}

/** When a certificate in DER is good, in milliseconds since 1970. */
export function validityOf(raw: Uint8Array): { readonly from: number; readonly until: number } {
  const { validFrom, validTo } = new X509Certificate(raw)
  return { from: Date.parse(validFrom), until: Date.parse(validTo) }
}
