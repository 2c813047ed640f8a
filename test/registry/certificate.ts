import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface Certificate {
  readonly certificate: string
  readonly key: string
}

/** Signed by itself, for this machine and for registry.test. */
export function makeCertificate(): Certificate {
  const folder = mkdtempSync(join(tmpdir(), 'purser-certificate-'))
  const [key, crt] = [join(folder, 'key.pem'), join(folder, 'crt.pem')]
  try {
    const subject = ['-subj', '/CN=tests', '-addext', 'subjectAltName=IP:127.0.0.1,DNS:registry.test', '-days', '2']
    const args = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', ...subject, '-keyout', key, '-out', crt]
    execFileSync('openssl', args, { stdio: 'ignore' })
    return { certificate: readFileSync(crt, 'utf8'), key: readFileSync(key, 'utf8') }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
