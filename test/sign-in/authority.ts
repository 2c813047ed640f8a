import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A certificate authority of openssl, in a folder of its own. */
export interface Authority {
  readonly folder: string
  /** The path of a file of it: `ca.crt`, `crl.pem`, `<name>.crt`, `<name>.key`. */
  at(name: string): string
  /** A certificate that it signs. Times are as openssl writes them: `20260101000000Z`. */
  issue(name: string, options: { subject: string; names?: string; from?: string; until?: string }): void
  revoke(name: string): void
  remove(): void
}

const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']

export function createAuthority(name: string): Authority {
  const folder = mkdtempSync(join(tmpdir(), `purser-${name}-`))
  const at = (file: string) => join(folder, file)
  const openssl = (...args: readonly string[]) => execFileSync('openssl', args, { cwd: folder, stdio: 'pipe' })
  mkdirSync(at('new'))
  writeFileSync(at('index.txt'), '')
  writeFileSync(
    at('ca.conf'),
    `[ca]
default_ca = own
[own]
dir = ${folder}
new_certs_dir = ${at('new')}
database = ${at('index.txt')}
rand_serial = yes
unique_subject = no
certificate = ${at('ca.crt')}
private_key = ${at('ca.key')}
default_md = sha256
default_days = 2
default_crl_days = 2
policy = any
copy_extensions = copy
[any]
commonName = supplied
organizationName = optional
`,
  )
  const certificate = ['-subj', `/CN=${name}`, '-days', '2', '-keyout', 'ca.key', '-out', 'ca.crt']
  openssl('req', '-x509', ...newKey, ...certificate)
  const writeList = () => openssl('ca', '-config', 'ca.conf', '-gencrl', '-out', 'crl.pem')
  writeList()
  return {
    folder,
    at,
    issue(file, { subject, names, from, until }) {
      const more = names === undefined ? [] : ['-addext', `subjectAltName=${names}`]
      openssl('req', ...newKey, '-subj', subject, ...more, '-keyout', `${file}.key`, '-out', `${file}.csr`)
      const times = [...(from ? ['-startdate', from] : []), ...(until ? ['-enddate', until] : [])]
      openssl(
        'ca',
        '-batch',
        '-notext',
        '-config',
        'ca.conf',
        '-preserveDN',
        ...times,
        '-in',
        `${file}.csr`,
        '-out',
        `${file}.crt`,
      )
    },
    revoke(file) {
      openssl('ca', '-config', 'ca.conf', '-revoke', `${file}.crt`)
      writeList()
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}
