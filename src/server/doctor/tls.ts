import { X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { isIP } from 'node:net'
import { loadTls } from '../../http/node/listen.ts'
import { messageOf } from '../../shape/thrown.ts'
import type { Check, Finding } from './finding.ts'

const day = 86_400_000
const soon = 30 * day

/** The files can be used, the certificate is valid for some time, and it is for the name that clients use. */
export const checkTls: Check = async ({ config, clock }) => {
  const { tls, publicUrl } = config.server
  if (tls === undefined) return []
  try {
    await loadTls(tls)
  } catch (error) {
    return [{ state: 'wrong', about: 'tls', expected: 'a certificate and its key', found: messageOf(error), remedy }]
  }
  const usable: Finding = { state: 'ok', about: 'tls', expected: 'a certificate and its key', found: 'they fit' }
  const certificate = new X509Certificate(await readFile(tls.cert))
  return [usable, judgeTime(certificate, clock.now()), ...judgeName(certificate, publicUrl)]
}

const remedy = 'Correct server.tls: a PEM file with the certificate first and its chain after it, and one with its key.'

function judgeTime({ validFrom, validTo }: X509Certificate, now: number): Finding {
  const [from, to] = [Date.parse(validFrom), Date.parse(validTo)]
  const about = 'tls validity'
  const expected = 'a certificate that is valid for another 30 days'
  const renew = 'Renew the certificate, and start the broker again.'
  if (now < from)
    return {
      state: 'wrong',
      about,
      expected,
      found: `it is valid only from ${show(from)}`,
      remedy: 'Check the clock of this machine, or name another certificate.',
    }
  if (now > to) return { state: 'wrong', about, expected, found: `it has expired on ${show(to)}`, remedy: renew }
  const found = `it expires on ${show(to)}`
  return to - now < soon
    ? { state: 'warning', about, expected, found, remedy: renew }
    : { state: 'ok', about, expected, found }
}

function judgeName(certificate: X509Certificate, publicUrl: string | undefined): readonly Finding[] {
  if (publicUrl === undefined) return []
  const { hostname } = new URL(publicUrl)
  const address = hostname.replace(/^\[|\]$/g, '')
  const isFor = (isIP(address) === 0 ? certificate.checkHost(hostname) : certificate.checkIP(address)) !== undefined
  const expected = `a certificate for ${hostname}, which server.publicUrl names`
  if (isFor) return [{ state: 'ok', about: 'tls name', expected, found: 'it is' }]
  const names = certificate.subjectAltName ?? certificate.subject ?? 'nobody'
  // A proxy before the broker may have the right one.
  return [
    {
      state: 'warning',
      about: 'tls name',
      expected,
      found: `it is for ${names.replaceAll('\n', ', ')}`,
      remedy: 'Clients refuse it unless a proxy stands before the broker: name a certificate for this host.',
    },
  ]
}

function show(time: number): string {
  return new Date(time).toISOString()
}
