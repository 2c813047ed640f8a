import type { Authenticator, PeerCertificate, Principal, Refusal, Remembered, Role } from '../authenticator.ts'
import { type Clock, wallClock } from '../clock.ts'
import { type CertificateId, certificateId, validityOf } from './revoked.ts'
import type { CaFingerprint } from './trusted.ts'

/** Whose certificate it is: by its whole subject, or by one of its alternative names. Exactly, with no pattern. */
export interface CertificateRule {
  readonly name: string
  readonly subject?: string | undefined
  readonly san?: string | undefined
  readonly platform: string
  readonly roles: readonly Role[]
}

export interface CertificateOptions {
  readonly revoked?: ReadonlySet<CertificateId>
  /** The CAs of the server: a session ends where one of those is gone that were there when it was begun. */
  readonly trusted?: ReadonlySet<CaFingerprint>
  readonly clock?: Clock
}

const scheme = 'certificate'

/** What is known of a certificate that a trusted CA has signed. */
interface Facts {
  readonly id: CertificateId
  readonly subject: string
  readonly names: readonly string[]
  readonly from: number
  readonly until: number
}

/**
 * Client certificates (mTLS). The server has checked at the handshake that a CA of its own has signed them, for as long as the
 * connection lasts; whether they have expired, or were revoked, is looked at for each request. Only the connection itself
 * counts: what a header says about a certificate is not looked at.
 */
export function createCertificateAuthenticator(
  rules: readonly CertificateRule[],
  { revoked = new Set(), trusted = new Set(), clock = wallClock }: CertificateOptions = {},
): Authenticator {
  /** A connection shows one certificate. */
  const seen = new WeakMap<object, Shown>()
  const remembered = new WeakMap<Principal, Remembered>()

  /** Why it is not good now; undefined where it is. */
  function refusalOf({ id, from, until }: Facts): Refusal | undefined {
    const now = clock.now()
    if (now >= until) return { refused: 'the certificate has expired' }
    if (now < from) return { refused: 'the certificate is not valid yet' }
    if (revoked.has(id)) return { refused: 'the certificate was revoked' }
    return undefined
  }

  function holderOf({ subject, names }: Facts): Principal | undefined {
    const holder = rules.find(({ subject: wanted, san = '' }) =>
      wanted === undefined ? names.includes(san) : wanted === subject,
    )
    return holder && { name: holder.name, platform: holder.platform, roles: holder.roles }
  }

  function look(connection: object | undefined, certificate: PeerCertificate): Shown {
    const before = connection && seen.get(connection)
    if (before !== undefined) return before
    const facts = readFacts(certificate)
    const principal = holderOf(facts)
    const shown = { facts, principal }
    const { id, subject, names, from, until } = facts
    if (principal !== undefined)
      remembered.set(principal, {
        scheme,
        facts: { id, subject, names, from: String(from), trusted: [...trusted] },
        until,
      })
    if (connection !== undefined) seen.set(connection, shown)
    return shown
  }

  return {
    scheme,
    authenticate({ headers, tls, connection }) {
      // Credentials that are sent say more than the connection they came on.
      if (headers.authorization !== undefined || tls === undefined) return undefined
      const { certificate, authorized } = tls
      if (certificate === undefined) return undefined
      if (!authorized) return untrusted
      const { facts, principal = nobody } = look(connection, certificate)
      return refusalOf(facts) ?? principal
    },
    memory: {
      remember: async principal => remembered.get(principal),
      async recall({ scheme: of, facts: { id, subject, names = [], from, trusted: before = 'unknown' }, until = 0 }) {
        // Which of them has signed the certificate is not known here: each of them may have.
        if (of !== scheme || ![before].flat().every(ca => trusted.has(ca))) return undefined
        const facts = { id: String(id), subject: String(subject), names: [names].flat(), from: Number(from), until }
        return refusalOf(facts) === undefined ? holderOf(facts) : undefined
      },
    },
  }
}

interface Shown {
  readonly facts: Facts
  readonly principal: Principal | undefined
}

const untrusted: Refusal = { refused: 'the certificate is not one of server.tls.ca that is good now' }
const nobody: Refusal = { refused: 'the certificate stands for nobody in auth.certificates' }

function readFacts(certificate: PeerCertificate): Facts {
  const raw = certificate.raw()
  const { subject, names } = certificate
  return { id: certificateId(raw), subject, names, ...validityOf(raw) }
}
