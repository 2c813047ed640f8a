import { X509Certificate } from 'node:crypto'

/** The SHA-256 of a CA's certificate. */
export type CaFingerprint = string

/** Of all certificates of a PEM file. Throws where one cannot be read. */
export function readTrusted(pem: string): ReadonlySet<CaFingerprint> {
  const blocks = pem.match(/-----BEGIN [A-Z0-9 ]*CERTIFICATE-----[^-]+-----END [A-Z0-9 ]*CERTIFICATE-----/g) ?? []
  return new Set(blocks.map(block => new X509Certificate(block).fingerprint256))
}
