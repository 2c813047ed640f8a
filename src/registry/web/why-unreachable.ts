import { codeOf } from '../../shape/thrown.ts'

/** Why no reply has come, and what to do; the error's own text is left out, because it may hold what was sent. */
export function whyUnreachable(error: unknown): string {
  const code = codeOf(error)
  if (code === undefined) return error instanceof Error ? `it cannot be asked (${error.name})` : 'it cannot be asked'
  return reasons[code] ?? (isTrust(code) ? `its certificate is not trusted (${code}); ${remedy}` : `no reply (${code})`)
}

const remedy = 'name its authority with ca'

const reasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nobody listens there (ECONNREFUSED); start it, or correct the url',
  ENOTFOUND: 'its name is not known (ENOTFOUND); correct the url',
  EAI_AGAIN: 'its name cannot be resolved now (EAI_AGAIN)',
  ECONNRESET: 'the connection was cut (ECONNRESET)',
  EPIPE: 'the connection was cut (EPIPE)',
  EPROTO: 'it does not speak TLS (EPROTO); correct the url',
  ERR_SSL_WRONG_VERSION_NUMBER: 'it does not speak TLS; write http:// in the url',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another name; correct the url',
  CERT_HAS_EXPIRED: 'its certificate has expired; renew it',
}

function isTrust(code: string): boolean {
  return /CERT|SIGNATURE|ISSUER|LEAF|CHAIN/.test(code)
}
