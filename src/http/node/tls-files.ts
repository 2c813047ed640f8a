/** Paths of PEM files. */
export interface TlsFiles {
  readonly cert: string
  readonly key: string
  /** Whose client certificates are good. */
  readonly ca?: string
  /** With `ca`: only clients with such a certificate are served, unless it is `optional`. */
  readonly clientCertificates?: 'required' | 'optional'
  /** With `ca`: a certificate that is in the revocation list is not good. */
  readonly crl?: string
}
